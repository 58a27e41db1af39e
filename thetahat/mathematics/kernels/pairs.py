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
    if is_sparse(X) and is_sparse(Z):
        return _products_of_sparse(X, Z)
    found = X @ Z.T
    return found.toarray() if hasattr(found, "toarray") else found


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
        return array_namespace(X).sum(X * X, axis=1)
    _require_indices(X)
    rows: SparseMatrix = X
    if rows.format != "csr" or not rows.has_canonical_format:
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    of_entry = np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr))
    found = np.bincount(of_entry, weights=np.square(rows.data), minlength=X.shape[0])
    return found.astype(X.dtype, copy=False)


def squared_distances(X: Matrix, Z: Matrix) -> Array:
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz for all rows of X and Z, by a matrix product.

    Dense rows are first shifted by the mean of Z, so that rows far from 0 do not cancel.
    Cost: O(n m d).
    """
    if is_array_api_obj(X) and is_array_api_obj(Z):
        xp = array_namespace(X, Z)
        middle = xp.mean(Z, axis=0)
        X, Z = X - middle, Z - middle
    found = inner_products(X, Z)
    xp = array_namespace(found)
    found *= -2.0
    found += squared_norms(X)[:, None]
    found += squared_norms(Z)[None, :]
    if type(found) is np.ndarray:
        return np.maximum(found, 0.0, out=found)
    return xp.where(found > 0, found, xp.zeros_like(found))


def in_double_precision(X: Matrix, Z: Matrix) -> bool:
    """Whether both are dense NumPy arrays of float64, which compiled code takes."""
    return all(type(each) is np.ndarray and each.dtype == np.float64 for each in (X, Z))


def gaussian_values(X: Array, Z: Array, gamma: float) -> Array:
    """exp(−γ‖x − z‖²) for all rows of X and Z: one product, and one pass of compiled code.

    For arrays that are `in_double_precision`. Cost: O(n m d).
    """
    middle = Z.mean(axis=0)
    X, Z = X - middle, Z - middle
    found = np.ascontiguousarray(np.dot(X, Z.T))
    _native.gaussian_block(found, squared_norms(X), squared_norms(Z), gamma)
    return found


def exact_distances(X: Matrix, Z: Matrix, *, manhattan: bool = False) -> Array:
    """‖x − z‖₂ or ‖x − z‖₁ for all rows of X and Z, by differences of columns.

    For kernels with a kink at x = z, where the rounding errors of `squared_distances` would be
    magnified by the root. Cost: O(n m d), without a matrix product.
    """
    X, Z = dense(X), dense(Z)
    xp = array_namespace(X, Z)
    total: Any = None
    for column in range(X.shape[1]):
        gap = X[:, column][:, None] - Z[:, column][None, :]
        term = xp.abs(gap) if manhattan else gap * gap
        total = term if total is None else total + term
    return total if manhattan else xp.sqrt(total)


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
