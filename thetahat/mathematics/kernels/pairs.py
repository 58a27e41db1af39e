"""Inner products and distances of all pairs of rows: the sums that kernels are functions of."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat import _native
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix, SparseMatrix


def inner_products(X: Matrix, Z: Matrix) -> Array:
    """xᵀz for all rows of X and Z, dense; the rows may be sparse. Cost: O(n m d)."""
    _require_indices(X, Z)
    is_same = X is Z
    if is_sparse(X) and is_sparse(Z):
        return _products_of_sparse(X, Z)
    Z = _in_rows(Z)
    found = (Z if is_same else _in_rows(X)) @ Z.T
    return found.toarray() if hasattr(found, "toarray") else found


def _in_rows(X: Matrix) -> Matrix:
    """X with its rows one after the other in memory, because the order changes roundings."""
    return np.ascontiguousarray(X) if type(X) is np.ndarray else X


def _products_of_sparse(X: SparseMatrix, Z: SparseMatrix) -> Array:
    """xᵀz for all sparse rows, over common entries. Cost: O(common entries + n m)."""
    kind = np.result_type(X.dtype, Z.dtype)
    kind = kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
    rows, columns = X.tocsr(), Z.tocsc()
    place = np.result_type(rows.indptr, rows.indices, columns.indptr, columns.indices)
    place = place if place in (np.int32, np.int64) else np.dtype(np.int64)
    found = np.zeros((X.shape[0], Z.shape[0]), dtype=kind)
    of_rows, of_columns = (_compressed(each, kind, place) for each in (rows, columns))
    _native.products_of_sparse_rows(*of_rows, *of_columns, found)
    return found


def _compressed(X: SparseMatrix, kind: Any, place: Any) -> tuple[Array, Array, Array]:
    """The entries, their places and the bounds of rows or columns, as compiled code takes them."""
    return (
        np.ascontiguousarray(X.data, dtype=kind),
        np.ascontiguousarray(X.indices, dtype=place),
        np.ascontiguousarray(X.indptr, dtype=place),
    )


def squared_norms(X: Matrix) -> Array:
    """‖x‖² of each row. Cost: O(n d)."""
    if is_array_api_obj(X):
        X = _in_rows(X)
        return array_namespace(X).sum(X * X, axis=1)
    _require_indices(X)
    rows: SparseMatrix = X
    if rows.format != "csr" or not rows.has_canonical_format:
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    of_entry = np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr))
    found = np.bincount(of_entry, weights=np.square(rows.data), minlength=X.shape[0])
    return found.astype(X.dtype, copy=False)


def squared_distances(X: Matrix, Z: Matrix, width: float = 1.0) -> Array:
    """‖x − z‖²/width² for all rows of X and Z: ‖x‖² + ‖z‖² − 2xᵀz, by a matrix product.

    Dense rows are first shifted by the mean of Z, so that rows far from 0 do not cancel. Where they
    still would, or would overflow, differences of columns take the place of the product.
    Cost: O(n m d).
    """
    parts = _products(X, Z, width)
    if parts is None:
        return _squares_of_differences(X, Z, width)
    found, of_rows, of_columns = parts
    xp = array_namespace(found)
    found *= -2.0
    found += of_rows[:, None]
    found += of_columns[None, :]
    found = xp.where(found < 0, xp.zeros_like(found), found)
    if width != 1.0:
        found *= 1.0 / width / width
    return found


def gaussian_values(X: Matrix, Z: Matrix, width: float, gamma: float) -> Array:
    """exp(−γ‖x − z‖²) with γ = 1/(2·width²) for all rows of X and Z.

    For dense rows in double precision: one product, and one pass of compiled code. Cost: O(n m d).
    """
    if all(type(each) is np.ndarray and each.dtype == np.float64 for each in (X, Z)):
        parts = _products(X, Z, width)
        if parts is not None:
            _native.gaussian_block(*parts, gamma)
            return parts[0]
        squares = _squares_of_differences(X, Z, width)
    else:
        squares = squared_distances(X, Z, width)
    squares *= -0.5
    return array_namespace(squares).exp(squares)


def _products(X: Matrix, Z: Matrix, width: float) -> tuple[Array, Array, Array] | None:
    """xᵀz, ‖x‖² and ‖z‖² of rows around their middle.

    None where the rounding errors of ‖x − z‖²/width² would exceed the root of the machine
    precision, or where these squares overflow or underflow.
    """
    dense_rows = is_array_api_obj(X) and is_array_api_obj(Z)
    with np.errstate(over="ignore", invalid="ignore"):
        is_same = X is Z
        if dense_rows:
            rows = _in_rows(Z)
            middle = array_namespace(X, Z).mean(rows, axis=0)
            X, Z = _in_rows(X) - middle, rows - middle
        if is_same:  # one array with itself gives BLAS half of the work, and exact symmetry
            X = Z
        of_rows, of_columns = squared_norms(X), squared_norms(Z)
        if type(of_rows) is np.ndarray and of_rows.size and of_columns.size:
            limits, square = np.finfo(of_rows.dtype), width * width
            largest = max(float(of_rows.max()), float(of_columns.max()))
            allowed = limits.eps**-0.5 * square if dense_rows else limits.max / 8
            if not (largest <= min(allowed, limits.max / 8) and square >= limits.tiny / limits.eps):
                return None
        return inner_products(X, Z), of_rows, of_columns


def _squares_of_differences(X: Matrix, Z: Matrix, width: float) -> Array:
    """‖x − z‖²/width² to full precision; rows of single precision are first tried in double."""
    if X.dtype == np.float32 and is_array_api_obj(X) and is_array_api_obj(Z):
        found = squared_distances(X.astype(np.float64), Z.astype(np.float64), width)
        with np.errstate(over="ignore"):
            return found.astype(np.float32)
    with np.errstate(over="ignore"):
        found = exact_distances(X, Z)
        found /= width
        found *= found
    return found


def exact_distances(X: Matrix, Z: Matrix, *, manhattan: bool = False) -> Array:
    """‖x − z‖₂ or ‖x − z‖₁ for all rows of X and Z, by differences of columns.

    For kernels with a kink at x = z, where the rounding errors of `squared_distances` would be
    magnified by the root. Cost: O(n m d), without a matrix product.
    """
    X, Z = dense(X), dense(Z)
    if type(X) is np.ndarray and type(Z) is np.ndarray:
        return compiled_distances("manhattan" if manhattan else "euclidean", X, Z)
    xp = array_namespace(X, Z)
    total: Any = None
    for column in range(X.shape[1]):
        gap = X[:, column][:, None] - Z[:, column][None, :]
        term = xp.abs(gap) if manhattan else gap * gap
        total = term if total is None else total + term
    return total if manhattan else xp.sqrt(total)


def fallen_distances(
    X: Matrix, Z: Matrix, factor: float, *, degree: int = 0, manhattan: bool = False
) -> Array:
    """p(r)·e^{−r} with r = factor·‖x − z‖ and p = 1, 1 + r or 1 + r + r²/3. Cost: O(n m d)."""
    X, Z = dense(X), dense(Z)
    if type(X) is np.ndarray and type(Z) is np.ndarray:
        kind = "manhattan" if manhattan else "euclidean"
        return compiled_distances(kind, X, Z, factor, degree)
    r = exact_distances(X, Z, manhattan=manhattan) * factor
    decay = array_namespace(r).exp(-r)
    return (1.0, 1 + r, 1 + r + r * r / 3)[degree] * decay


def compiled_distances(
    kind: str, X: Array, Z: Array, factor: float = 1.0, degree: int = -1
) -> Array:
    """factor·d(x, z), or what falls with it, for dense NumPy rows; sums are in double precision."""
    found = np.empty((X.shape[0], Z.shape[0]))
    rows = np.ascontiguousarray(X, dtype=np.float64)
    columns = np.ascontiguousarray(Z.T, dtype=np.float64)
    factor = min(factor, float(np.finfo(np.float64).max))
    _native.distance_block(kind, degree, factor, rows, columns, found)
    with np.errstate(over="ignore"):
        return found.astype(X.dtype, copy=False)


def dense(X: Matrix) -> Array:
    """X as a dense array."""
    _require_indices(X)
    rows: Any = X
    return rows if is_array_api_obj(X) else rows.toarray()


def _require_indices(*matrices: Matrix) -> None:
    """Refuse sparse rows whose indices SciPy would follow out of the matrix."""
    for X in matrices:
        if is_sparse(X):
            require_indices(X, "kernel")
