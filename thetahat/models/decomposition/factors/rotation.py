"""Rotations of loadings towards few large entries: varimax and quartimax."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

MOST_STEPS = 500
TOLERANCE = 1e-10


def rotated(loadings: Array, method: str) -> Array:
    """Loadings A of shape (k, d), turned by an orthogonal T so that TA has a simple structure.

    Quartimax maximises Σ a⁴ and varimax Σ_k (Σ_i a_ki⁴ − (Σ_i a_ki²)²/d), the variance of the
    squared entries of each factor. T is the orthogonal factor of the derivative, which never lowers
    the criterion. Factors are returned in order of decreasing sums of squares.
    """
    k, d = loadings.shape
    if k < 2:
        return loadings
    share = 1.0 / d if method == "varimax" else 0.0
    turn, before = np.eye(k), -np.inf
    with one_blas_thread():
        for _ in range(MOST_STEPS):
            now = turn @ loadings
            squares = now**2
            pull = now * squares - share * now * squares.sum(axis=1)[:, None]
            U, values, V = np.linalg.svd(pull @ loadings.T)
            turn = U @ V
            total = float(values.sum())
            if total <= before * (1.0 + TOLERANCE):
                break
            before = total
        found = turn @ loadings
    return found[np.argsort(-(found**2).sum(axis=1), kind="stable")]
