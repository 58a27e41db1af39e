"""Distances of all pairs of rows, and kernels that fall with them, written plainly."""

import numpy as np


def distance_block(kind, degree, factor, X, Z):
    """r = factor·d(x, z), or p(r)·e^(−r) with p(r) = 1, 1 + r or 1 + r + r²/3."""
    gap = X[:, None, :] - Z[None, :, :]
    if kind == "manhattan":
        distance = np.abs(gap).sum(axis=2)
    elif kind == "euclidean":
        distance = np.sqrt((gap**2).sum(axis=2))
    else:
        both = X[:, None, :] + Z[None, :, :]
        distance = (gap**2 / np.where(both > 0, both, 1.0)).sum(axis=2)
    r = factor * distance
    if degree < 0:
        return r
    return [1.0, 1 + r, 1 + r + r * r / 3][degree] * np.exp(-r)
