"""Square roots of covariance matrices, whitening and the Mahalanobis distance.

A whitening matrix of Σ is any W with W Σ Wᵀ = I. Two are provided. With the Cholesky factor
Σ = MMᵀ, W = M⁻¹ is lower triangular, so each output depends only on the columns up to its own. The
inverse symmetric square root W = Σ^{-1/2} changes the data least. Both give the same distances
‖W(x − μ)‖² = (x − μ)ᵀ Σ⁻¹ (x − μ).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.data.validation import as_features, as_source
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_symmetric

METHODS = ("cholesky", "symmetric")


def matrix_square_root(A: Any) -> Array:
    """The symmetric square root of a positive semidefinite matrix.

    Formula: A = VΛVᵀ gives A^½ = VΛ^½Vᵀ, so that A = (A^½)ᵀA^½. (The triangular root of a
    positive definite A is ``np.linalg.cholesky(A, upper=True)``.)

    Cost: O(d³) time, O(d²) memory.

    Parameters
    ----------
    A : array-like of shape (d, d)
        A symmetric matrix. Slightly negative eigenvalues, within rounding errors, count as zero.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.matrix_square_root([[4.0, 0.0], [0.0, 9.0]]).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    matrix = as_symmetric(A, who="matrix_square_root")
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrix)
        if values[0] < -10 * len(values) * EPSILON * np.abs(values).max():
            raise DataError(
                "matrix_square_root: the matrix must be positive semidefinite, but it has the "
                f"eigenvalue {values[0]:g}. A covariance matrix has no negative eigenvalues: check "
                "how it was computed."
            )
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return (root + root.T) / 2.0


def whitening_matrix(covariance: Any, method: str = "cholesky") -> Array:
    """The matrix W that transforms rows with this covariance to rows with covariance I.

    Formula: W Σ Wᵀ = I, with W = M⁻¹ for Σ = MMᵀ ("cholesky") or W = Σ^{-1/2} ("symmetric").
    `Whitening` estimates Σ from data and applies W to them.

    Cost: O(d³) time, O(d²) memory.

    Parameters
    ----------
    covariance : array-like of shape (d, d)
        The covariance matrix Σ. Must be symmetric and positive definite.
    method : {"cholesky", "symmetric"}, default="cholesky"
        "cholesky" gives the lower triangular matrix M⁻¹, "symmetric" the symmetric matrix Σ^{-1/2},
        which changes the data least.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.whitening_matrix([[4.0, 0.0], [0.0, 16.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    if method not in METHODS:
        raise ParameterError(f"whitening_matrix: method={method!r} must be one of {METHODS}.")
    return whiten_and_colour(_upper_root(covariance, "whitening_matrix"), method)[0]


def mahalanobis_distance(X: Any, mean: Any, covariance: Any) -> Array:
    """The Mahalanobis distance of each row from a mean.

    Formula: d(x)² = (x − μ)ᵀ Σ⁻¹ (x − μ) = ‖M⁻¹(x − μ)‖² with Σ = MMᵀ; no inverse is formed.
    It is the length of x − μ in units of the standard deviation in its direction.

    Cost: O(n d² + d³) time, O(n + d²) memory in addition to the data; rows may be read block by
    block.

    Parameters
    ----------
    X : array-like, table or Source of shape (n, d)
        The rows whose distances are computed.
    mean : array-like of shape (d,)
        The point from which distances are measured (μ).
    covariance : array-like of shape (d, d)
        The covariance matrix Σ. Must be symmetric and positive definite.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.mahalanobis_distance([[3.0, 8.0]], [1.0, 0.0], [[1.0, 0.0], [0.0, 16.0]]).round(6)
    array([2.828427])
    """
    solve_triangular = scipy_linalg().solve_triangular

    source = as_source(X, who="mahalanobis_distance", accept_sparse=False)
    root = _upper_root(covariance, "mahalanobis_distance")
    centre = as_features([mean], who="mahalanobis_distance")[0][0]
    for what, size in (("mean", len(centre)), ("covariance", len(root))):
        if size != source.n_features:
            raise DataError(
                f"mahalanobis_distance: X has {source.n_features} columns, but the {what} has "
                f"dimension {size}. They must agree."
            )

    def distances(block: Block) -> Array:
        deviations = np.asarray(block.X, dtype=np.float64) - centre
        white = solve_triangular(root, deviations.T, trans="T", check_finite=False)
        return np.linalg.norm(white, axis=0)

    return source.map_rows(distances)


def whiten_and_colour(root: Array, method: str, nullity: int = 0) -> tuple[Array, Array]:
    """W and its inverse, the matrix M that gives white rows the covariance RᵀR = MMᵀ.

    The last `nullity` directions of the symmetric root have no spread; both matrices omit them.
    """
    solve_triangular = scipy_linalg().solve_triangular

    with one_blas_thread():
        if method == "cholesky":
            # Rᵀ is the Cholesky factor up to the signs of its columns.
            lower = (root * np.sign(np.diagonal(root))[:, None]).T
            return solve_triangular(lower, np.eye(len(root)), lower=True), lower
        _, s, Vt = np.linalg.svd(root)
        s, Vt = s[: len(s) - nullity], Vt[: len(s) - nullity]
        return (Vt.T / s) @ Vt, (Vt.T * s) @ Vt


def _upper_root(covariance: Any, who: str) -> Array:
    """R with RᵀR = Σ, or an error if Σ is not positive definite."""
    matrix = as_symmetric(covariance, who=who)
    variance = np.diagonal(matrix)
    # Columns are scaled to variance 1, so that the test does not depend on units.
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    with one_blas_thread():
        scaled = matrix / scale / scale[:, None]
        smallest = np.linalg.eigvalsh(scaled)[0]
        if not smallest > len(scaled) * EPSILON:
            raise DataError(
                f"{who}: the covariance must be positive definite, but {_offence(variance)} Drop "
                "constant and linearly dependent columns, or add a small number to the diagonal."
            )
        return np.linalg.cholesky(scaled, upper=True) * scale


def _offence(variance: Array) -> str:
    none = np.flatnonzero(~(variance > 0))
    if none.size:
        return f"column {none[0]} has variance {variance[none[0]]:g}."
    return "its columns are linearly dependent up to rounding."
