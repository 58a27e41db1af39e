"""The best approximation of a matrix by one of rank k (Eckart and Young)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import as_matrix, svd, unit_of


@dataclass(frozen=True)
class LowRank:
    """A matrix of rank k as a product Y·Z of k·(m + n) numbers, from `best_rank`.

    Cost: k·(m + n) numbers of memory.

    Attributes
    ----------
    left : array of shape (m, k)
        The left factor (Y), the first left singular vectors times their singular values.
    right : array of shape (k, n)
        The right factor (Z), the first right singular vectors.
    error : float
        The Frobenius norm of what is left out, √(Σ_{i>k} s_i²).
    share : float
        The share of the squared Frobenius norm that is kept.

    Examples
    --------
    >>> import thetahat as th
    >>> th.lowrank.best_rank([[3.0, 0.0], [0.0, 1.0]], 1).share
    0.9
    """

    left: Array
    right: Array
    error: float
    share: float

    @property
    def rank(self) -> int:
        """The number of terms (k)."""
        return int(self.left.shape[1])

    @property
    def n_numbers(self) -> int:
        """How many numbers the factors hold: k·(m + n)."""
        return int(self.left.size + self.right.size)

    def matrix(self) -> Array:
        """Multiply the factors. Cost: O(m n k)."""
        with one_blas_thread():
            return self.left @ self.right


def best_rank(A: Any, k: int) -> LowRank:
    """Compute the best approximation of a matrix by one of rank k.

    Formula: A_k = Σ_{i≤k} s_i·u_i·v_iᵀ has the smallest ‖A − B‖_F of all B of rank k, and ‖A −
    A_k‖_F² = Σ_{i>k} s_i² (Eckart and Young). Cost: O(mn·min(m, n)).

    Parameters
    ----------
    A : array-like of shape (m, n)
        A matrix of finite numbers.
    k : int
        The rank, from 0 to min(m, n).

    Returns
    -------
    LowRank
        The factors, and the error.

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.lowrank.best_rank([[2.0, 2.0], [2.0, 2.0], [0.0, 1.0]], 1)
    >>> found.left.shape, found.right.shape, round(found.error, 4)
    ((3, 1), (1, 2), 0.696)
    """
    matrix = as_matrix(A, "best_rank")
    most = min(matrix.shape)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise ParameterError(
            f"best_rank: k={k!r} must be a whole number from 0 to min(m, n) = {most}."
        )
    U, s, V = svd(matrix)
    unit = unit_of(s)
    squares = (s / unit) ** 2
    total = float(squares.sum())
    share = float(squares[:k].sum()) / total if total > 0 else 1.0
    error = unit * float(np.sqrt(squares[k:].sum()))
    return LowRank(U[:, :k] * s[:k], V[:k].copy(), error, share)
