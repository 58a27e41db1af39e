"""Every penalty with parameters that are not its defaults, and coefficients for it."""

import math

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.penalties.base import Penalty

D = 6
ELSEWHERE = {
    "L2": [{"alpha": 0.0}],
    "L1": [{"alpha": 0.3}],
    "ElasticNet": [{"alpha": 0.7, "l1_ratio": 0.2}, {"l1_ratio": 0.0}, {"l1_ratio": 1.0}],
    "L0": [{"alpha": 0.2}, {"alpha": 0.0}],
    "Box": [
        {"lower": -0.5, "upper": 0.25},
        {"lower": 0.5, "upper": 2.0},
        {"lower": [-math.inf, 0.0, 0.1, -1.0, -1.0, 0.3], "upper": [1.0, 0.2, 0.1, 1.0, 0.0, 0.9]},
    ],
    "L1Ball": [{"radius": 0.3}, {"radius": 2.5}, {"radius": 100.0}],
    "L2Ball": [{"radius": 0.3}, {"radius": 100.0}],
    "GroupLasso": [{"alpha": 0.4, "groups": [0, 1, 1, 7, 0, 1]}, {"groups": [2] * D}],
    "Combined": [
        {"parts": (th.penalties.L1(0.3), th.penalties.NonNegative())},
        {"parts": (th.penalties.ElasticNet(0.5), th.penalties.Box(-0.4, [0.1] * D))},
        {"parts": (th.penalties.L2(2.0), th.penalties.L1(0.1), th.penalties.Box(0.2, 0.7))},
    ],
}


def penalty_classes():
    return [
        part
        for name, part in sorted(vars(th.penalties).items())
        if name in th.penalties.__all__ and isinstance(part, type) and issubclass(part, Penalty)
    ]


def penalties(kind=Penalty, *, where=lambda penalty: True):
    """Parameters for a test over all penalties of one kind."""
    found = []
    for part in penalty_classes():
        if issubclass(part, kind):
            default = [] if part is th.penalties.Combined else [{}]
            found += [part(**params) for params in [*default, *ELSEWHERE.get(part.__name__, [])]]
    return pytest.mark.parametrize(
        "penalty", [pytest.param(one, id=repr(one)) for one in found if where(one)]
    )


def coefficients(penalty, seed=0):
    """Vectors, and matrices with a column for each output, for this penalty."""
    rng = np.random.default_rng(seed)
    if isinstance(penalty, th.penalties.OffDiagonalL1):
        return [rng.normal(size=(4, 4))]
    return [rng.normal(size=D), rng.normal(size=(D, 3))]


def feasible(penalty, theta):
    return penalty.prox(theta, 1e-9)
