"""The smallest eigenvalues of a sparse or dense matrix that has no negative ones.

Few rows are decomposed as a whole. For more rows, Lanczos iterations with (M + σI)⁻¹ find the
smallest eigenvalues λ as the largest 1/(λ + σ), by one sparse or dense factor. Eigenvectors of the
eigenvalue 0 that are known before are projected out, so that none is missed or found twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread, parallel_for, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place, cholesky_solve
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs

WHOLE_ROWS = 100
"""So few rows are decomposed as a whole, which is faster than iterations."""
DENSE_SHARE = 0.04
"""Share of entries from which a dense factor is faster than a sparse one, which fills up."""
DENSE_ROWS = 20_000
PRODUCT_ROWS = 256
"""Rows of a matrix that one thread multiplies, whatever the number of threads."""
TIGHT = 1e-12
"""Relative accuracy of Lanczos iterations if none is given."""


class SmallestEigen(NamedTuple):
    """Eigenvalues in ascending order, and orthonormal eigenvectors as columns."""

    values: Array
    vectors: Array


def smallest_eigenvectors(
    M: Matrix,
    k: int,
    null: Array | None = None,
    *,
    shift: float,
    tol: float = 0.0,
    max_iter: int | None = None,
    whole: bool | None = None,
    seed: int = 0,
    who: str = "smallest_eigenvectors",
) -> SmallestEigen:
    """The k smallest eigenvalues of M besides those of the known vectors.

    The entry of the largest size of each vector is positive. Cost: O(n³) with few rows or dense
    factors, else that of one sparse factor and about 50 solutions.

    Parameters
    ----------
    M : array or sparse matrix of shape (n, n)
        A symmetric matrix without negative eigenvalues.
    k : int
        Number of eigenvalues, at most n minus the number of known vectors.
    null : array of shape (n, c), optional
        Orthonormal eigenvectors of the eigenvalue 0 that are known and not wanted.
    shift : float
        A positive number (σ), below the differences of the wanted eigenvalues where that is
        possible, and large enough that M + σI is not singular.
    tol : float, default=0.0
        Relative accuracy of the iterations. 0 means nearly machine precision.
    max_iter : int, optional
        Maximum number of iterations. When it is reached, the matrix is decomposed as a whole.
    whole : bool, optional
        Whether to decompose the matrix as a whole. By default for few rows or many eigenvalues.
    seed : int, default=0
        Seed of the first vector of the iterations.
    who : str
        Name of the caller in messages.
    """
    n = int(M.shape[0])
    known = np.zeros((n, 0)) if null is None else null
    left = n - known.shape[1]
    if not 0 < k <= left:
        raise ParameterError(
            f"{who}: {k} eigenvectors were requested, but a graph with {n} rows has only {left} "
            "besides those of its connected components. Use fewer components or more rows."
        )
    if whole is None:
        whole = n <= WHOLE_ROWS or 5 * k > n
    with one_blas_thread():
        if not whole and k < left:
            found = _by_lanczos(M, k, known, shift, tol or TIGHT, max_iter, seed, who)
            if found is not None:
                return found
        return _by_whole(M, k, known, who)


def _by_whole(M: Matrix, k: int, known: Array, who: str) -> SmallestEigen:
    """All of M, with the known vectors moved to the end of the spectrum."""
    dense = _dense(M, who)
    if known.shape[1]:
        bound = float(np.abs(dense).sum(axis=1).max(initial=0.0)) + 1.0
        dense += (2 * bound * known) @ known.T
    values, vectors = scipy_linalg().eigh(dense, subset_by_index=[0, k - 1], check_finite=False)
    if vectors.shape[1] < k:  # some clusters of equal eigenvalues defeat this driver
        values, vectors = scipy_linalg().eigh(dense, driver="evd", check_finite=False)
    return _tidy(values[:k], vectors[:, :k])


def _by_lanczos(
    M: Matrix, k: int, known: Array, shift: float, tol: float, max_iter: int | None, seed: int,
    who: str,
) -> SmallestEigen | None:  # fmt: skip
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = int(M.shape[0])
    solve = _inverse(M, shift, who)
    if solve is None:
        return None

    def apply(vector: Array) -> Array:
        inside = vector - known @ (known.T @ vector)
        found = solve(inside)
        return found - known @ (known.T @ found)

    start = np.random.default_rng(seed).uniform(-1.0, 1.0, n)
    start -= known @ (known.T @ start)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        inverse, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=tol, maxiter=max_iter)
    except ArpackNoConvergence:
        return None
    order = np.argsort(inverse)[::-1]
    vectors = vectors[:, order]
    # 1/μ − σ would lose digits of an eigenvalue that is small beside the shift.
    values = np.einsum("ij,ij->j", vectors, M @ vectors)
    order = np.argsort(values, kind="stable")
    return _tidy(values[order], vectors[:, order])


def _inverse(M: Matrix, shift: float, who: str) -> Callable[[Array], Array] | None:
    """x ↦ (M + σI)⁻¹x; None if the matrix is singular to rounding."""
    n = int(M.shape[0])
    if not is_sparse(M) or (M.nnz > DENSE_SHARE * n * n and n <= DENSE_ROWS):
        dense = _dense(M, who)
        np.einsum("ii->i", dense)[:] += shift
        if not cholesky_in_place(dense):
            return None
        return lambda vector: cholesky_solve(dense, vector)
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    try:
        factor = splu(
            (M + shift * eye_array(n)).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    solve: Callable[[Array], Array] = factor.solve
    return solve


def _dense(M: Matrix, who: str) -> Array:
    n = int(M.shape[0])
    require_memory(
        2 * 8 * n * n, f"{who}: a matrix of {n} rows and columns", "Use fewer rows or neighbours."
    )
    dense: Any = M.toarray() if is_sparse(M) else M
    return np.array(dense, dtype=np.float64, order="C")


def _tidy(values: Array, vectors: Array) -> SmallestEigen:
    return SmallestEigen(np.maximum(values, 0.0), with_fixed_signs(vectors.T).T)


def largest_eigenvectors(
    K: Array, k: int, *, tol: float = 0.0, max_iter: int | None = None, whole: bool | None = None
) -> tuple[Array, Array]:
    """The k largest eigenvalues of a dense symmetric matrix in descending order, and their vectors.

    The entry of the largest size of each vector is positive. Cost: O(n²) per Lanczos iteration, of
    which there are about 50, or O(n³) as a whole.
    """
    n = len(K)
    if whole is None:
        whole = n <= WHOLE_ROWS or 5 * k > n
    with one_blas_thread():
        found = None if whole or k >= n else _by_products(K, k, tol or TIGHT, max_iter)
        if found is None:
            span = [n - k, n - 1]
            found = scipy_linalg().eigh(K, subset_by_index=span, check_finite=False)
            if found[1].shape[1] < k:  # some clusters of equal eigenvalues defeat this driver
                values, vectors = scipy_linalg().eigh(K, driver="evd", check_finite=False)
                found = values[n - k :], vectors[:, n - k :]
    values, vectors = found
    order = np.argsort(-values, kind="stable")
    return values[order], with_fixed_signs(vectors[:, order].T).T


def _by_products(K: Array, k: int, tol: float, max_iter: int | None) -> tuple[Array, Array] | None:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(K)
    parts = [slice(start, start + PRODUCT_ROWS) for start in range(0, n, PRODUCT_ROWS)]

    def apply(vector: Array) -> Array:
        vector, out = np.ravel(vector), np.empty(n)

        def multiply(rows: slice) -> None:
            np.dot(K[rows], vector, out=out[rows])

        parallel_for(multiply, parts, products=float(n) * n)
        return out

    start = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=tol, maxiter=max_iter)
    except ArpackNoConvergence:
        return None
    return values, vectors
