"""k-means in a few lines of NumPy."""

import numpy as np


def squares(X, centres):
    return ((X[:, None].astype(float) - centres[None]) ** 2).sum(axis=2)


def lloyd(X, centres, steps, weight=None):
    """Labels, centres and the losses before each step; clusters stay non-empty."""
    weight = np.ones(len(X)) if weight is None else weight
    losses = []
    for _ in range(steps):
        distance = squares(X, centres)
        labels = distance.argmin(axis=1)
        losses.append(weight @ distance.min(axis=1))
        sums = np.array([weight[labels == k] @ X[labels == k] for k in range(len(centres))])
        centres = sums / np.bincount(labels, weight, len(centres))[:, None]
    return squares(X, centres).argmin(axis=1), centres, losses
