"""Rows of two and of three classes, fits to rounding, and the risk that they minimise."""

import numpy as np

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
N = 300
X = RANDOM.standard_normal((N, 4)) * [1, 3, 0.5, 1] + [0, 2, -1, 0]
SCORE = X @ [1.0, -0.5, 1.0, 0.0] + 0.5
TWO = (SCORE + RANDOM.logistic(size=N) > 0).astype(int)
THREE = np.array(["a", "b", "c"])[
    np.argmax(X @ RANDOM.standard_normal((4, 3)) + RANDOM.gumbel(size=(N, 3)), axis=1)
]
WEIGHT = RANDOM.integers(0, 4, N)
LABELS = {"two": TWO, "three": THREE}
TIGHT = {"tol": 1e-10, "max_iter": 10_000}
DESIGN = np.column_stack([X, np.ones(N)])


def fit(y=TWO, x=X, weight=None, **parameters):
    return th.LogisticRegression(**(TIGHT | parameters)).fit(x, y, weight)


def one_hot(y):
    return (np.unique(y)[:, None] == y).T.astype(float)


def risk_of(loss, y, penalty="none", outputs=0):
    return EmpiricalRisk(
        LinearPredictor(X.shape[1], outputs),
        loss,
        th.penalties.named(penalty) if isinstance(penalty, str) else penalty,
        as_source(X, y),
    )


def assert_same_bits_for_any_number_of_threads(x, y, **parameters):
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.LogisticRegression(**parameters).fit(x, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
