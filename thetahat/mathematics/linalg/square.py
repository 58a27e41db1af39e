"""Square matrices at the door: finite numbers, as many rows as columns, symmetric where asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import as_features
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

_ASYMMETRY = 1e-8
"""Largest difference |A_ij − A_ji|, relative to the largest entry, that counts as rounding."""


def as_square(A: Any, *, who: str) -> Array:
    """A as a finite float64 matrix of shape (d, d)."""
    matrix, _ = as_features(A, who=who, accept_sparse=False)
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"{who}: the matrix has shape {matrix.shape}; as many rows as columns are needed."
        )
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        row, column = bad[0]
        raise DataError(
            f"{who}: entry ({row}, {column}) of the matrix is {matrix[row, column]}; finite "
            "numbers are needed."
        )
    return matrix


def as_symmetric(A: Any, *, who: str) -> Array:
    """A as a finite, exactly symmetric float64 matrix."""
    matrix = as_square(A, who=who)
    gap = np.abs(matrix - matrix.T)
    row, column = np.unravel_index(np.argmax(gap), gap.shape)
    if gap[row, column] > _ASYMMETRY * np.abs(matrix).max():
        raise DataError(
            f"{who}: a symmetric matrix is needed, and entry ({row}, {column}) is "
            f"{matrix[row, column]:g} where ({column}, {row}) is {matrix[column, row]:g}. "
            "Use (A + A.T) / 2 if the difference has no meaning."
        )
    return (matrix + matrix.T) / 2.0
