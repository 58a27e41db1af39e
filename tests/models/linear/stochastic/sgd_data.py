"""Rows, targets and schedules for steps of single rows, and comparison of two fits."""

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Block, Source

RANDOM = np.random.default_rng(0)
N, D = 300, 5
X = RANDOM.standard_normal((N, D))
SLOPES = RANDOM.standard_normal(D)
Y = X @ SLOPES + 1.0 + 0.3 * RANDOM.standard_normal(N)
SIGNS = np.where(X @ SLOPES + 0.5 * RANDOM.standard_normal(N) > 0, 1, -1)
CLASSES = np.array(["a", "b", "c"])[np.digitize(X @ SLOPES, [-1.0, 1.0])]
IN_ORDER = {"shuffle": False, "tol": None, "max_iter": 3}
PENALTIES = {
    "none": {"penalty": None},
    "l2": {"penalty": "l2", "alpha": 0.01},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "elasticnet": {"penalty": "elasticnet", "alpha": 0.02, "l1_ratio": 0.4},
}


@dataclass(frozen=True, kw_only=True)
class InBlocks(Source):
    """Rows that come 70 at a time, and cannot be looked up by their number."""

    rows: np.ndarray
    targets: np.ndarray
    has_target: bool = True

    @property
    def n_rows(self):
        return len(self.rows)

    def blocks(self):
        for start in range(0, self.n_rows, 70):
            rows = slice(start, start + 70)
            yield Block(X=self.rows[rows], y=self.targets[rows], start=start)


def parameters(model):
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_)])


def assert_same(one, other, **tolerance):
    tolerance = {"rtol": 1e-9, "atol": 1e-11} | tolerance
    np.testing.assert_allclose(parameters(one), parameters(other), **tolerance)


def sigmoid(t):
    return 1 / (1 + np.exp(-t))
