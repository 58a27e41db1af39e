"""Nearest rows by matrix products, ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, block by block.

BLAS computes the products, and a compiled filter measures again, exactly, the few rows that may be
among the nearest. Distances and neighbours have the bits of a scan. Cost: O(n m d) time and
O(block) memory beside a copy of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.search.found import Nearest

QUERIES, ROWS = 256, 2048
"""Size of a block of products: it stays in the cache until the filter has read it."""
SPARSE_BYTES = 16 << 20


class DenseProducts:
    """The rows, centred so that rounding is small, and the lower bounds of their lengths."""

    def __init__(self, rows: Array) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.centre = self.rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
        self.centred = self.rows - self.centre
        self.slack = _slack(rows.shape[1], rows.dtype)
        self.low = _lengths(self.centred, self.slack).astype(rows.dtype)

    def nearest(self, queries: Array, k: int) -> Nearest:
        """The nearest rows of every query; their distances are squared."""
        queries = np.ascontiguousarray(queries)
        found = Nearest.empty(queries.shape[0], k)

        def search(start: int) -> None:
            some = slice(start, min(start + QUERIES, queries.shape[0]))
            centred = queries[some] - self.centre
            query_low = _lengths(centred, self.slack)
            distance, row = found.distance[some], found.row[some]
            with np.errstate(over="ignore", invalid="ignore"):
                for first in range(0, self.rows.shape[0], ROWS):
                    last = first + ROWS
                    products = centred @ self.centred[first:last].T
                    _native.near_products(
                        products,
                        self.low[first:last],
                        query_low,
                        first,
                        queries[some],
                        self.rows,
                        distance,
                        row,
                    )
            _native.finish_lists(distance, row)

        parallel_for(search, range(0, queries.shape[0], QUERIES))
        return found


class SparseProducts:
    """Sparse rows and their transpose, so that a product visits common columns only."""

    def __init__(self, rows: Matrix) -> None:
        self.rows = _with_short_indices(rows)
        self.transposed = rows.T.tocsr()
        self.slack = _slack(int(np.diff(rows.indptr).max(initial=0)), rows.dtype)
        self.low = _lengths(rows, self.slack).astype(rows.dtype)

    def nearest(self, queries: Matrix, k: int) -> Nearest:
        """The nearest rows of every query; their distances are squared."""
        found = Nearest.empty(queries.shape[0], k)
        n = self.rows[2].shape[0] - 1
        step = max(1, SPARSE_BYTES // (n * queries.dtype.itemsize))

        def search(start: int) -> None:
            some = slice(start, min(start + step, queries.shape[0]))
            block = queries[some]
            distance, row = found.distance[some], found.row[some]
            with np.errstate(over="ignore", invalid="ignore"):
                products = (block @ self.transposed).toarray(order="C")
            _native.near_sparse_products(
                products,
                self.low,
                _lengths(block, self.slack),
                0,
                *_with_short_indices(block),
                *self.rows,
                distance,
                row,
            )
            _native.finish_lists(distance, row)

        parallel_for(search, range(0, queries.shape[0], step))
        return found


def _slack(n_terms: int, dtype: Any) -> float:
    """Share of ‖q‖² + ‖x‖² beyond the rounding of the formula and of the exact distance.

    A product of n terms is off by at most n·ε·‖q‖·‖x‖/2 in any order of addition, centring by
    ε·(‖q‖ + ‖x‖) in each row, and the rest by a few ε.
    """
    return float((2 * n_terms + 16) * np.finfo(dtype).eps)


def _lengths(rows: Matrix, slack: float) -> Array:
    """(1 − slack)·‖x‖² of every row, in float64."""
    with np.errstate(over="ignore"):
        if is_sparse(rows):
            squares = np.asarray(rows.astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return np.asarray((1 - slack) * squares)


def _with_short_indices(rows: Matrix) -> tuple[Array, Array, Array]:
    """The arrays of a CSR array, with 32-bit indices."""
    if rows.nnz >= 2**31:
        raise DataError(
            f"Nearest neighbours: {rows.nnz} entries of a sparse X are too many; there may be "
            "2³¹ − 1. Use fewer rows."
        )
    return (
        np.ascontiguousarray(rows.data),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.indptr, dtype=np.int32),
    )
