"""Eigenvalues of symmetric matrices, singular values, rank and the pseudo-inverse."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.arguments import as_float, numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import interruptible, one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_symmetric


class Eigen(NamedTuple):
    """The eigenvalues of a symmetric matrix, A = Q·diag(values)·Qᵀ, from `symmetric_eigen`.

    Cost: O(d²) memory.

    Attributes
    ----------
    values : array of shape (d,)
        Eigenvalues in descending order.
    vectors : array of shape (d, d)
        Orthonormal eigenvectors as columns (Q). The entry with the largest absolute value of each
        is positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.lowrank.symmetric_eigen([[0.0, 1.0], [1.0, 0.0]]).is_positive_semidefinite
    False
    """

    values: Array
    vectors: Array

    @property
    def is_positive_semidefinite(self) -> bool:
        """Whether no eigenvalue is negative beyond rounding errors."""
        size = float(np.abs(self.values).max(initial=0.0))
        return bool((self.values >= -10 * len(self.values) * EPSILON * size).all())


class SVD(NamedTuple):
    """The singular values of a matrix, A = U·diag(s)·V, a sum of s_i·u_i·v_iᵀ, from `svd`.

    Cost: O((m + n)·min(m, n)) memory.

    Attributes
    ----------
    U : array of shape (m, r)
        Left singular vectors as columns, r = min(m, n).
    s : array of shape (r,)
        Singular values in descending order; they are unique.
    V : array of shape (r, n)
        Right singular vectors as rows. The entry with the largest absolute value of each is
        positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.lowrank.svd([[1.0, 2.0], [2.0, 4.0]]).rank
    1
    """

    U: Array
    s: Array
    V: Array

    @property
    def rank(self) -> int:
        """The number of singular values above rounding errors."""
        if not self.s.size:
            return 0
        return int((self.s > max(self.U.shape[0], self.V.shape[1]) * EPSILON * self.s[0]).sum())


def as_matrix(A: Any, who: str) -> Array:
    """A as a 2-D array of finite numbers."""
    matrix = numbers(A, "A", who)
    if matrix.ndim != 2:
        raise DataError(f"{who}: A must be a matrix, but it has {matrix.ndim} dimensions.")
    return matrix


def unit_of(values: Array) -> float:
    """The power of two by which the squares of these numbers neither overflow nor underflow."""
    largest = float(np.abs(values).max(initial=0.0))
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1022)) if largest > 0 else 1.0


def symmetric_eigen(A: Any) -> Eigen:
    """Compute the eigenvalues and eigenvectors of a symmetric matrix (spectral theorem).

    Formula: A = Q·diag(λ)·Qᵀ with orthogonal Q. The largest value of vᵀAv over unit vectors v is
    λ₁, attained at the first eigenvector. Eigenvalues are real; they are all ≥ 0 if and only if A
    is positive semidefinite, as XᵀX is. Cost: O(d³) time, O(d²) memory.

    Parameters
    ----------
    A : array-like of shape (d, d)
        A symmetric matrix of finite numbers.

    Returns
    -------
    Eigen
        Eigenvalues in descending order and eigenvectors as columns.

    Examples
    --------
    >>> import thetahat as th
    >>> values, vectors = th.lowrank.symmetric_eigen([[2.0, 1.0], [1.0, 2.0]])
    >>> values.round(6).tolist(), vectors[:, 0].round(6).tolist()
    ([3.0, 1.0], [0.707107, 0.707107])
    """
    matrix = as_symmetric(A, who="symmetric_eigen")

    def decompose() -> tuple[Array, Array]:
        with one_blas_thread():
            found: tuple[Array, Array] = scipy_linalg().eigh(
                matrix, driver="evd", check_finite=False
            )
        return found

    values, vectors = interruptible(decompose, float(len(matrix)) ** 3)
    return Eigen(values[::-1].copy(), with_fixed_signs(vectors[:, ::-1].T).T)


def svd(A: Any) -> SVD:
    """Compute the singular value decomposition of a matrix.

    Formula: A = U·diag(s)·V = Σ_i s_i·u_i·v_iᵀ, with s_i = √λ_i(AᵀA). The singular values are
    unique; the vectors are unique up to sign where the values differ. Cost: O(mn·min(m, n)).

    Parameters
    ----------
    A : array-like of shape (m, n)
        A matrix of finite numbers.

    Returns
    -------
    SVD
        U, s and V, with ``rank``.

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.lowrank.svd([[3.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    >>> found.s.tolist(), found.rank
    ([3.0, 0.0], 1)
    """
    matrix = as_matrix(A, "svd")

    def decompose() -> tuple[Array, Array, Array]:
        with one_blas_thread():
            found: tuple[Array, Array, Array] = scipy_linalg().svd(
                matrix, full_matrices=False, check_finite=False
            )
        return found

    U, s, V = interruptible(decompose, float(matrix.size) * min(matrix.shape))
    signed = with_fixed_signs(V)
    signs = np.where((signed == V).all(axis=1), 1.0, -1.0)
    return SVD(U * signs, s, signed)


def pseudo_inverse(A: Any, tolerance: float | None = None) -> Array:
    """Compute the pseudo-inverse of a matrix from its singular values.

    Formula: A⁺ = Vᵀ·diag(1/s_i or 0)·Uᵀ. x = A⁺b is the shortest of all x with the smallest
    ‖Ax − b‖. Cost: O(mn·min(m, n)).

    Parameters
    ----------
    A : array-like of shape (m, n)
        A matrix of finite numbers.
    tolerance : float, optional
        Singular values up to this share of the largest count as 0. None uses rounding errors,
        max(m, n)·2.2e-16.

    Returns
    -------
    array of shape (n, m)
        The pseudo-inverse.

    Examples
    --------
    >>> import thetahat as th
    >>> th.lowrank.pseudo_inverse([[2.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    found = svd(A)
    if tolerance is not None and not 0 <= as_float(tolerance) < 1:
        raise ParameterError(f"pseudo_inverse: tolerance={tolerance!r} must be from 0 to 1.")
    share = max(found.U.shape[0], found.V.shape[1]) * EPSILON if tolerance is None else tolerance
    kept = found.s > share * found.s.max(initial=0.0)
    with one_blas_thread():
        return (found.V[kept].T / found.s[kept]) @ found.U[:, kept].T + 0.0


def with_fixed_signs(rows: Array) -> Array:
    """The rows with signs such that the entry of the largest size is positive."""
    if not rows.size:
        return rows
    largest = np.abs(rows).argmax(axis=1)
    signs = np.sign(rows[np.arange(len(rows)), largest])
    return rows * np.where(signs == 0, 1.0, signs)[:, None].astype(rows.dtype)
