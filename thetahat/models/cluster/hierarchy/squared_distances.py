"""Squared Euclidean distances of all pairs of points, as the upper triangle, row by row.

Points of many coordinates take a matrix product, ‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz, which loses the
digits that the two norms have in common. Pairs that lose more than three of them are computed
again from their differences; if there are many such pairs, all are.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads, one_blas_thread
from thetahat.foundation.types import Array

COORDINATES = 256
TERMS = 1 << 23
"""Coordinates and terms n²d from which a product is at least 1.25 times as fast as differences."""
CACHED = 1 << 17
"""Numbers of all points beyond which differences wait for memory."""
ROWS_AT_ONCE = 256
_NEAR = 1e-3
"""Distances below this share of the two norms are computed from differences."""
_MANY = 1 / 16
"""Share of near pairs from which all are computed from differences."""
_ENTRIES_AT_ONCE = 1 << 18


def squared_distances(points: Array) -> Array:
    """The n(n − 1)/2 squared distances of points in float64. Cost: O(n² d)."""
    n, d = points.shape
    out = np.empty(n * (n - 1) // 2)
    is_wide = d >= COORDINATES and (n * n * d >= TERMS or n * d >= CACHED)
    if not (is_wide and _by_products(points, out)):
        _native.triangle_distances(points, 2.0, False, out, n_threads())
    return out


def _by_products(points: Array, out: Array) -> bool:
    """Fill in the squared distances; False, with some missing, if many pairs are near."""
    n = len(points)
    square = np.einsum("ij,ij->i", points, points)
    most = max(16.0, _MANY * len(out))
    near = 0
    with one_blas_thread():  # so that the sums do not depend on the number of threads
        for start in range(0, n - 1, ROWS_AT_ONCE):
            some = points[start : start + ROWS_AT_ONCE]
            both = square[start : start + len(some), None] + square[start:]
            found = both - 2.0 * np.dot(some, points[start:].T)
            close = np.triu(found < _NEAR * both, 1)
            i, j = np.nonzero(close)
            near += len(i)
            if near > most:
                return False
            step = max(1, _ENTRIES_AT_ONCE // points.shape[1])
            for first in range(0, len(i), step):
                part = slice(first, first + step)
                away = some[i[part]] - points[start + j[part]]
                found[i[part], j[part]] = np.einsum("ij,ij->i", away, away)
            for k, row in enumerate(found):
                place = n * (start + k) - (start + k) * (start + k + 1) // 2
                out[place : place + n - start - k - 1] = row[k + 1 :]
    return True
