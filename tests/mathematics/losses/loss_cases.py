"""Every loss of ``th.losses``, at its defaults and elsewhere, and targets and scores for each."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.losses.base import Loss, Targets

ELSEWHERE = {
    "Quantile": [{"level": 0.1}, {"level": 0.9}],
    "Huber": [{"delta": 0.5}],
    "Forsyth": [{"scale": 1.0}],
    "Cauchy": [{"scale": 1.0}],
    "Tukey": [{"scale": 2.0}],
    "EpsilonInsensitive": [{"epsilon": 0.0}, {"epsilon": 1.0}],
    "SquaredEpsilonInsensitive": [{"epsilon": 1.0}],
    "Tweedie": [{"power": 1.1}, {"power": 1.9}],
}

N_CLASSES = 4


def loss_classes():
    return [
        part
        for name, part in sorted(vars(th.losses).items())
        if name in th.losses.__all__ and isinstance(part, type) and issubclass(part, Loss)
    ]


def losses(kind=Loss, *, where=lambda loss: True):
    """Parameters for a test over all losses of one kind."""
    found = [
        part(**params)
        for part in loss_classes()
        if issubclass(part, kind)
        for params in [{}, *ELSEWHERE.get(part.__name__, [])]
    ]
    return pytest.mark.parametrize(
        "loss", [pytest.param(loss, id=repr(loss)) for loss in found if where(loss)]
    )


def one_column(loss):
    return loss.columns == "one"


def per_class(loss):
    return loss.columns == "per class"


def draw_targets(loss, n, rng):
    match loss.targets:
        case Targets.REAL:
            return rng.normal(scale=2.0, size=n)
        case Targets.NONNEGATIVE:
            return rng.poisson(2.0, size=n).astype(float)
        case Targets.POSITIVE:
            return rng.gamma(2.0, size=n)
        case Targets.BINARY:
            return rng.integers(0, 2, size=n).astype(float)
        case Targets.SIGNS:
            return rng.choice([-1.0, 1.0], size=n)
        case Targets.CLASSES:
            return rng.permutation(np.arange(n) % N_CLASSES)


def draw(loss, n=300, seed=0):
    """Targets y and raw predictions z, a hundredth or more away from every kink."""
    rng = np.random.default_rng(seed)
    y = draw_targets(loss, n, rng)
    z = rng.normal(scale=2.0, size=(n, N_CLASSES) if per_class(loss) else n)
    for kink in loss.kinks(y):
        z = np.where(np.abs(z - kink) < 0.01, kink + 0.02, z)
    return y, z
