"""Validation of square matrices: finite, as many rows as columns, symmetric where required."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import as_features
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

_ASYMMETRY = 1e-8
"""Largest difference |A_ij − A_ji|, relative to the largest entry, that counts as rounding."""
_ASYMMETRY_OF_PRODUCTS = 1e-6
"""The same for sums of products, possibly in float32."""


def as_square(A: Any, *, who: str) -> Array:
    """A as a finite float64 matrix of shape (d, d)."""
    matrix, _ = as_features(A, who=who, accept_sparse=False)
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"{who}: the matrix has shape {matrix.shape}; it must have as many rows as columns."
        )
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        row, column = bad[0]
        raise DataError(
            f"{who}: entry ({row}, {column}) of the matrix is {matrix[row, column]}; all entries "
            "must be finite."
        )
    return matrix


def as_symmetric(A: Any, *, who: str, rounding: float = _ASYMMETRY) -> Array:
    """A as a finite, exactly symmetric float64 matrix."""
    matrix = as_square(A, who=who)
    gap = np.abs(matrix - matrix.T)
    row, column = np.unravel_index(np.argmax(gap), gap.shape)
    if gap[row, column] > rounding * np.abs(matrix).max():
        raise DataError(
            f"{who}: the matrix must be symmetric, but entry ({row}, {column}) is "
            f"{matrix[row, column]:g} and entry ({column}, {row}) is {matrix[column, row]:g}. "
            "Use (A + A.T) / 2 if the difference does not matter."
        )
    return (matrix + matrix.T) / 2.0


def as_gram(A: Any, d: int, *, who: str) -> Array:
    """A as a matrix that may be XᵀX of d columns: symmetric, with a diagonal of squares ≥ 0."""
    shape = np.shape(A)
    if shape != (d, d):
        raise DataError(
            f"{who} has shape {shape}, but the Gram matrix of {d} columns has shape ({d}, {d}). "
            "Pass X.T @ X of the columns that are fitted."
        )
    matrix = as_symmetric(A, who=who, rounding=_ASYMMETRY_OF_PRODUCTS)
    negative = np.flatnonzero(np.diagonal(matrix) < 0)
    if negative.size:
        j = int(negative[0])
        raise DataError(
            f"{who}: the diagonal of a Gram matrix holds sums of squares, which are ≥ 0, but entry "
            f"({j}, {j}) is {matrix[j, j]:g}. Pass X.T @ X."
        )
    return matrix
