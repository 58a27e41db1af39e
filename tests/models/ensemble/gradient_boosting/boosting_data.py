"""Rows, targets and held-out rows for boosting."""

import numpy as np
from sklearn.datasets import make_friedman1

X, Y = make_friedman1(1200, noise=1.0, random_state=0)
X_TEST, Y_TEST = X[700:], Y[700:]
X, Y = X[:700], Y[:700]
SIGN = Y > np.median(Y)


def mean_square(model, x=X_TEST, y=Y_TEST):
    return float(np.mean((model.predict(x) - y) ** 2))
