"""Rows for ridge regression, and errors of leaving each row out by fitting again."""

import numpy as np

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 6)) * [1, 2, 0.5, 1, 3, 1] + [0, 5, 1, 0, -2, 0]
Y = X @ [1.0, 0.0, -2.0, 0.5, 1.0, 0.0] + 3.0 + RANDOM.standard_normal(80)
WIDE, WIDE_Y = RANDOM.standard_normal((15, 40)), RANDOM.standard_normal(15)


def leave_one_out(x, y, alpha, intercept, weight=None):
    """Refit without each row: what the closed form must equal."""
    errors, weight = [], np.ones(len(y)) if weight is None else weight
    shrinks = np.sqrt(alpha) * np.eye(x.shape[1])
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        root, mean, level = np.sqrt(weight[kept]), np.zeros(x.shape[1]), 0.0
        if intercept:
            mean = np.average(x[kept], axis=0, weights=weight[kept])
            level = np.average(y[kept], weights=weight[kept])
        rows = np.vstack([root[:, None] * (x[kept] - mean), shrinks])
        targets = np.r_[root * (y[kept] - level), np.zeros(len(mean))]
        errors.append(y[i] - level - (x[i] - mean) @ np.linalg.lstsq(rows, targets)[0])
    return np.array(errors)
