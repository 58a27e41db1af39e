"""The sizes of columns: root mean squares of the entries that are not 0."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array, Matrix, SparseMatrix

AT_ONCE = 1 << 18
"""Entries of X of which squares are in memory together."""
ORDINARY = (1e-100, 1e100)
"""Sizes of entries whose squares neither under- nor overflow."""


def column_sizes(X: Matrix) -> Array:
    """Root mean squares of the entries of each column that are not 0; 1 for a column of zeros."""
    if not isinstance(X, np.ndarray):
        return _of_sparse(X)
    largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    safe = np.where(largest > 0, largest, 1.0)  # so that no square overflows
    step = max(1, AT_ONCE // X.shape[1])  # no second matrix of the size of X
    parts = [np.square(X[i : i + step] / safe).sum(axis=0) for i in range(0, len(X), step)]
    count = np.count_nonzero(X, axis=0)
    return _sizes(np.sum(parts, axis=0), count, safe, largest > 0)


def _of_sparse(X: SparseMatrix) -> Array:
    rows = X.tocsr()
    column, d = rows.indices, X.shape[1]
    values = np.abs(rows.data).astype(np.float64, copy=False)
    if not values.all():
        column, values = column[values > 0], values[values > 0]
    count = np.bincount(column, minlength=d)
    least = values.min(initial=np.inf)
    if ORDINARY[0] <= least and values.max(initial=0.0) <= ORDINARY[1]:
        safe: Array = np.ones(d)
        squares = np.bincount(column, np.square(values), minlength=d)
    else:
        largest = np.zeros(d)
        np.maximum.at(largest, column, values)
        safe = np.where(largest > 0, largest, 1.0)
        squares = np.bincount(column, np.square(values / safe[column]), minlength=d)
    return _sizes(squares, count, safe, count > 0)


def _sizes(squares: Array, count: Array, safe: Array, known: Array) -> Array:
    return np.where(known, safe * np.sqrt(squares / np.maximum(count, 1)), 1.0)
