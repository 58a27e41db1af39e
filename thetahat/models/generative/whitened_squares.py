"""Squared distances of rows to Gaussian classes, and the nearest classes from single precision."""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array

TRIAL = 64
"""Rows whose size says whether single precision can decide for most rows."""
LARGEST_ERROR = 0.5
"""Usual error of the scores up to which single precision is used."""


def whitened_squares(
    rows: Array, centre: Array, scale: Array, roots: Array, offsets: Array
) -> Array:
    """‖Aᵀ((x − m)·s) − b‖² for all classes, and ‖(x − m)·s‖², in the precision of the roots A."""
    out = np.empty((rows.shape[0], len(roots) + 1))
    _native.whitened_squares(rows, centre, scale, roots, offsets.astype(roots.dtype), out)
    return out


def best_classes(
    rows: Array, centre: Array, roots: Array, offsets: Array, levels: Array
) -> tuple[Array, Array] | None:
    """The largest scores l − ½‖Aᵀ(x − m) − b‖² from single precision, and the rows in doubt.

    Sums of d products are off by at most g times the sum of their absolute values, so that
    Aᵀ(x − m) − b is off by at most δ = g·(‖A‖·‖x − m‖ + ‖b‖), and its square z² by g·z² + 2zδ + δ².
    ‖A‖ is the Frobenius norm. None if too many rows would be in doubt.
    """
    d = rows.shape[1]
    # Columns are scaled so that their entries in the roots have a similar size.
    scale = np.sqrt(np.einsum("cij,cij->i", roots, roots))
    single = (roots / scale[:, None]).astype(np.float32)
    size = np.sqrt(np.einsum("cij,cij->c", single, single))
    offset = np.linalg.norm(offsets, axis=1)
    g = 1.1 * (d + 8) * 2.0**-24
    with np.errstate(over="ignore", invalid="ignore"):
        some = np.linalg.norm((rows[:TRIAL] - centre) * scale, axis=1)
        usual = g * (np.median(some) * size.max() + offset.max()) * np.sqrt(d)
        if not usual < LARGEST_ERROR:
            return None
        square = whitened_squares(rows, centre, scale, single, offsets)
        distance, norm = square[:, :-1], np.sqrt(square[:, -1:])
        delta = g * (norm * size + offset)
        error = 0.5 * (g * distance + (2.0 * np.sqrt(distance) + delta) * delta)
        scores = levels - 0.5 * distance
        best = np.asarray(scores.argmax(axis=1))
        first = np.arange(len(best)), best
        low = scores[first] - error[first]
        scores += error
        scores[first] = -np.inf
        return best, np.flatnonzero(~(low > scores.max(axis=1)))  # NaN is in doubt
