"""Tall and wide rows, and how far coefficients are from the optimality conditions."""

import numpy as np

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 6)) * [1, 2, 0.5, 1, 3, 1] + [0, 5, 1, 0, -2, 0]
Y = X @ [1.0, 0.0, -2.0, 0.5, 1.0, 0.0] + 3.0 + RANDOM.standard_normal(80)
WIDE = RANDOM.standard_normal((40, 700)) + RANDOM.uniform(-1, 1, 700)
WIDE_Y = WIDE[:, :5] @ [2.0, -1.0, 1.0, 3.0, -2.0] + 0.5 * RANDOM.standard_normal(40)
WEIGHT = RANDOM.integers(0, 4, 40)
DATA = {"tall": (X, Y), "wide": (WIDE, WIDE_Y)}
TIGHT = {"tol": 1e-12, "max_iter": 100_000}


def violation(model, x, y, alpha, l1_ratio, weight=None, positive=False):
    """How far −∇S(β) is from the subdifferential of the penalty, and the mean residual from 0."""
    weight = np.ones(len(y)) / len(y) if weight is None else weight / weight.sum()
    residual = weight * (y - x @ model.coef_ - model.intercept_)
    slope = x.T @ residual - alpha * (1 - l1_ratio) * model.coef_
    threshold = alpha * l1_ratio
    idle = np.maximum((slope if positive else np.abs(slope)) - threshold, 0.0)
    used = np.abs(slope - threshold * np.sign(model.coef_))
    return max(np.where(model.coef_ == 0, idle, used).max(), abs(residual.sum()))


CROWDED = RANDOM.standard_normal((120, 500))
CROWDED_Y = CROWDED[:, :60].sum(axis=1) + RANDOM.standard_normal(120)
