"""Linear maps at which metric learning starts: principal or discriminant directions, or others."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array


def principal_map(X: Array, k: int) -> Array:
    """The k directions of the largest variance of centred rows, (k, d)."""
    with one_blas_thread():
        if X.shape[0] < X.shape[1]:
            found = np.linalg.svd(X, full_matrices=False)[2]
        else:
            found = np.linalg.eigh(X.T @ X)[1].T[::-1]
    return _filled(found[:k], k)


def discriminant_map(X: Array, codes: Array, k: int) -> Array:
    """The k directions that separate the means of the classes best, (k, d).

    They maximise the variance between classes over the total variance, and have variance 1 within
    classes (at least 1/n of the total one counts as such). Directions without variance are 0.
    """
    n = len(X)
    with one_blas_thread():
        _, spread, directions = np.linalg.svd(X, full_matrices=False)
        rank = int((spread > 1e-10 * max(spread[0], 1e-300)).sum())
        whiten = directions[:rank] / (spread[:rank, None] / np.sqrt(n))
        white = X @ whiten.T
        counts = np.bincount(codes)
        sums = np.zeros((len(counts), rank))
        np.add.at(sums, codes, white)
        means = sums / counts[:, None]
        between = (means * (counts / n)[:, None]).T @ means
        share, vectors = np.linalg.eigh((between + between.T) / 2)
        within = np.maximum(1.0 - share[::-1], 1.0 / n)
        found = (vectors.T[::-1] @ whiten) / np.sqrt(within)[:, None]
    return _filled(found[:k], k)


def _filled(rows: Array, k: int) -> Array:
    """These rows and zeros, k in all."""
    found = np.zeros((k, rows.shape[1]))
    found[: len(rows)] = rows
    return found
