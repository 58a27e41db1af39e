"""Rows of two and of three classes, and the objective of a linear machine."""

import numpy as np


def blobs(n=80, gap=1.0, d=2, seed=0):
    """Two clouds around ±gap on the diagonal."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, d)) + gap * y[:, None], y


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 1.0] + 0.5
    return X, np.searchsorted([-0.5, 1.5], X @ [1.0, 0.5, -1.0, 0.3] + rng.normal(size=n))


def objective(model, X, y, *, loss="squared_hinge", C=1.0, penalty="l2", weight=1.0):
    """scikit-learn's: the penalty of β and b, and C times the sum of the losses."""
    coef, intercept = model.coef_, np.asarray(model.intercept_)
    z = X @ coef.T + intercept
    if len(model.classes_) == 2:
        signs = np.where(y == model.classes_[1], 1, -1)[:, None]
    else:
        signs = np.where(y[:, None] == model.classes_, 1, -1)
    hinge = np.maximum(0, 1 - signs * z)
    losses = (hinge if loss == "hinge" else hinge**2).sum(axis=1)
    theta = np.append(coef.ravel(), intercept)
    size = theta @ theta / 2 if penalty == "l2" else np.abs(theta).sum()
    return size + C * np.sum(weight * losses)
