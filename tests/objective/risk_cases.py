"""Every loss with rows and targets of its kind, and the risk of them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import thetahat as th
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import (
    Loss,
    Targets,
)
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

opt, losses, penalties = th.optimizers, th.losses, th.penalties
N_CLASSES = 3
LOSSES = [
    part()
    for name, part in sorted(vars(losses).items())
    if isinstance(part, type) and issubclass(part, Loss) and hasattr(part, "name")
    if name in losses.__all__
]


def every(kind, where=lambda loss: True):
    found = [loss for loss in LOSSES if isinstance(loss, kind) and where(loss)]
    return pytest.mark.parametrize("loss", found, ids=lambda loss: type(loss).__name__)


def draw(loss, n=60, d=3, seed=0):
    """Rows with targets of the loss's kind, and weights that are whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + [1.0, 0.0, -0.5][:d]
    score = X @ np.array([0.8, -0.5, 0.3])[:d] + rng.normal(size=n)
    y = {
        Targets.REAL: score,
        Targets.NONNEGATIVE: rng.poisson(np.exp(score / 2)).astype(float),
        Targets.POSITIVE: np.exp(score / 2),
        Targets.BINARY: (score > 0).astype(float),
        Targets.SIGNS: np.where(score > 0, 1.0, -1.0),
        Targets.CLASSES: np.digitize(score, [-0.5, 0.8]).astype(float),
    }[loss.targets]
    return X, y, rng.integers(0, 4, size=n).astype(float)


def risk_of(loss, penalty=None, data=None, *, fit_intercept=True, source=None):
    X, y, weight = draw(loss) if data is None else data
    outputs = N_CLASSES if loss.columns == "per class" else 0
    return EmpiricalRisk(
        LinearPredictor(X.shape[1], outputs, fit_intercept),
        loss,
        penalties.L2(0.1) if penalty is None else penalty,
        as_source(X, y, weight) if source is None else source,
    )


def somewhere(risk, seed=1):
    return np.random.default_rng(seed).normal(scale=0.5, size=risk.predictor.n_parameters)


@dataclass(frozen=True, kw_only=True)
class Chunks(Source):
    """Rows in blocks of any size, one after another, as a file gives them."""

    parts: tuple

    @property
    def n_rows(self) -> int:
        return sum(block.n_rows for block in self.parts)

    def blocks(self) -> Iterator[Block]:
        return iter(self.parts)

    @classmethod
    def of(cls, X, y, weight, sizes):
        cuts = np.cumsum([0, *sizes])
        parts = tuple(
            Block(X[a:b], y[a:b], weight[a:b], start=a) for a, b in itertools.pairwise(cuts)
        )
        return cls(parts=parts, n_features=X.shape[1], has_target=True, has_weight=True)
