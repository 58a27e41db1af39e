"""The rows of a support vector machine: as they are solved, joined, and their variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.given import Precomputed

FEW_ROWS = 500
"""The kernel matrix of so few rows is computed at once, in double precision."""
MANY_COLUMNS = 200
"""Rows with so many columns take BLAS for the whole matrix: it is faster than the rows needed."""
MANY_PROBLEMS = 10
FEW_ROWS_OF_MANY = 2000
"""The same for so many problems, which share the entries of the matrix, or for many columns."""
FEW_ENTRIES = 1 << 20
"""So few entries of sparse rows are stored with their zeros,"""
ZEROS_PER_ENTRY = 8
"""unless there are more of these: products over common entries are faster."""


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit with their kernel; if they are few, their matrix as a precomputed one."""

    kernel: Kernel
    X: Matrix

    @property
    def are_a_matrix(self) -> bool:
        """Whether X is the kernel matrix."""
        return isinstance(self.kernel, Precomputed)


def dense_if_small(X: Matrix) -> Matrix:
    """Few sparse rows as dense ones, of which compiled code computes the kernel."""
    if isinstance(X, np.ndarray):
        return X
    n, d = X.shape
    small = n <= FEW_ROWS and n * d <= min(FEW_ENTRIES, ZEROS_PER_ENTRY * X.nnz)
    return X.toarray() if small else X


def joined_if_equal(centres: Array, weights: Array, classes: Array) -> tuple[Array | slice, Array]:
    """The rows that are left, each once (in each class), and the sums of their weights."""
    if not len(centres):
        return slice(None), weights
    if len(np.unique(centres[:, 0])) == len(centres):  # no two rows agree even there
        return slice(None), weights
    rows = np.ascontiguousarray(centres) + 0.0  # −0.0 becomes 0.0
    rows = np.column_stack([rows, classes.astype(np.float64)])
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, same = np.unique(as_bytes, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return slice(None), weights
    joined = np.zeros((len(first), weights.shape[1]))
    np.add.at(joined, same, weights)
    order = np.argsort(first)
    return first[order], joined[order]


def variance(X: Matrix, weight: Array) -> float:
    """The weighted variance of all entries. Cost: O(n d)."""
    shares = weight / weight.sum()
    if isinstance(X, np.ndarray):
        X = X.astype(np.float64, copy=False)
        mean = float(shares @ X.mean(axis=1))
        gaps = X - mean
        return float(shares @ np.einsum("ij,ij->i", gaps, gaps)) / X.shape[1]
    d = X.shape[1]
    mean = float(shares @ np.asarray(X.sum(axis=1), dtype=np.float64).ravel()) / d
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return max(0.0, float(shares @ squares) / d - mean * mean)
