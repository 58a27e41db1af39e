"""Rows of Gaussian classes with known moments, for the tests of generative classifiers."""

import numpy as np
from sklearn.datasets import load_iris

CROSS = np.sqrt(2.0) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype=float)
"""Four rows with mean 0 and covariance I (divided by n)."""


def crosses(*means, counts=None):
    """Classes at the given means, with the covariance I; `counts` repeats the rows of a class."""
    counts = counts or [1] * len(means)
    X = [np.tile(CROSS, (k, 1)) + mean for mean, k in zip(means, counts, strict=True)]
    return np.concatenate(X), np.repeat(np.arange(len(means)), [len(part) for part in X])


def gaussians(n=400, d=3, classes=3, seed=0, apart=2.0):
    """Rows of Gaussian classes with different covariances."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, n)
    y[: 2 * classes] = np.arange(2 * classes) % classes
    maps = random.normal(size=(classes, d, d)) + 2 * np.eye(d)
    means = apart * random.normal(size=(classes, d))
    return np.einsum("nd,nde->ne", random.normal(size=(n, d)), maps[y]) + means[y], y


IRIS = load_iris(return_X_y=True)
