"""Nearest rows by matrix products, ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, block by block.

BLAS computes the products of dense rows, compiled code those of sparse ones, and a compiled filter
measures again, exactly, the few rows that may be near enough. Distances and neighbours have the
bits of a scan. Cost: O(n m d) time and O(block) memory beside a copy of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import n_threads, parallel_for
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.models.neighbors.search.found import Nearest, Room, Within

QUERIES, ROWS = 256, 2048
"""Size of a block of products: it stays in the cache until the filter has read it."""
PAIRS_AT_ONCE = 1 << 21
"""Products of one block where all rows are needed together."""
SINGLE = 1e30
"""Products of two entries beyond which sums may overflow in single precision."""
SPARSE_PAIRS = 1 << 26
"""Pairs of sparse rows of one compiled call, between two of which an interrupt is noticed."""


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
                        self.slack,
                        first,
                        queries[some],
                        self.rows,
                        distance,
                        row,
                    )
            _native.finish_lists(distance, row)

        parallel_for(search, range(0, queries.shape[0], QUERIES))
        return found

    def within(self, queries: Array, radius: Array, by_distance: bool, room: Room) -> Within:
        """All rows within the squared radius of every query."""
        queries = np.ascontiguousarray(queries)
        step = max(1, PAIRS_AT_ONCE // self.rows.shape[0])
        starts = range(0, queries.shape[0], step)
        parts: list[Any] = [None] * len(starts)

        def search(start: int) -> None:
            some = slice(start, start + step)
            centred = queries[some] - self.centre
            with np.errstate(over="ignore", invalid="ignore"):
                products = centred @ self.centred.T
            parts[start // step] = _native.within_products(
                products,
                self.low,
                _lengths(centred, self.slack),
                queries[some],
                self.rows,
                radius[some],
                by_distance,
                max(0, room.left),
            )
            room.take(len(parts[start // step][1]))

        parallel_for(search, starts)
        return Within.joined(parts)


class SparseProducts:
    """Sparse rows and their transpose, so that a sum visits common columns only.

    With ``absolute`` the distance is Manhattan's, ‖q‖₁ + ‖x‖₁ − 2 Σ_j min(|q_j|, |x_j|)·1[q_j x_j >
    0], else the squared Euclidean one.
    """

    def __init__(self, rows: SparseMatrix, absolute: bool) -> None:
        self.absolute = absolute
        self.n_rows = int(rows.shape[0])
        self.slack = _slack(int(np.diff(rows.indptr).max(initial=0)), rows.dtype)
        kind = _native.SparseRows32 if rows.dtype == np.float32 else _native.SparseRows64
        low = _lengths(rows, self.slack, absolute).astype(rows.dtype)
        self._compiled = kind(
            *_with_short_indices(rows), *_with_short_indices(rows.T.tocsr()), low, self.slack,
            absolute,
        )  # fmt: skip

    def nearest(self, queries: Matrix, k: int) -> Nearest:
        """The nearest rows of every query; their distances are squared if Euclidean."""
        found = Nearest.empty(queries.shape[0], k)
        for some in self._steps(queries):
            block = queries[some]
            self._compiled.nearest(
                *_with_short_indices(block),
                _lengths(block, self.slack, self.absolute),
                found.distance[some],
                found.row[some],
                n_threads(),
            )
        return found

    def within(self, queries: Matrix, radius: Array, by_distance: bool, room: Room) -> Within:
        """All rows within the radius of every query, squared if Euclidean."""
        parts = []
        for some in self._steps(queries):
            block = queries[some]
            low = _lengths(block, self.slack, self.absolute)
            parts.append(
                self._compiled.within(
                    *_with_short_indices(block),
                    low,
                    radius[some],
                    by_distance,
                    max(0, room.left),
                    n_threads(),
                )
            )
            room.take(len(parts[-1][1]))
        return Within.joined(parts)

    def _steps(self, queries: Matrix) -> list[slice]:
        step = max(1, SPARSE_PAIRS // self.n_rows)
        return [
            slice(start, min(start + step, queries.shape[0]))
            for start in range(0, queries.shape[0], step)
        ]


def largest_entry(points: Matrix) -> float:
    """The largest |x_ij| of some rows, dense or sparse."""
    values = points.data if is_sparse(points) else points
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _slack(n_terms: int, dtype: Any) -> float:
    """Share of ‖q‖² + ‖x‖² beyond the rounding of the formula and of the exact distance.

    A product of n terms is off by at most n·ε·‖q‖·‖x‖/2 in any order of addition, centring by
    ε·(‖q‖ + ‖x‖) in each row, and the rest by a few ε.
    """
    return float((2 * n_terms + 16) * np.finfo(dtype).eps)


def _lengths(rows: Matrix, slack: float, absolute: bool = False) -> Array:
    """(1 − slack)·‖x‖² of every row, or that of ‖x‖₁, in float64."""
    with np.errstate(over="ignore"):
        if is_sparse(rows):
            wide = rows.astype(np.float64)
            powers = abs(wide) if absolute else wide.power(2)
            sums = np.asarray(powers.sum(axis=1)).ravel()
        else:
            sums = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return np.asarray((1 - slack) * sums)


def _with_short_indices(rows: SparseMatrix) -> tuple[Array, Array, Array]:
    """The arrays of a CSR array, with 32-bit indices."""
    if rows.nnz >= 2**31 or max(rows.shape) >= 2**31:
        raise DataError(
            f"Nearest neighbours: a sparse X with {rows.nnz} entries and {rows.shape[1]} columns "
            "is too large; there may be 2³¹ − 1 of each. Use fewer rows or columns."
        )
    return (
        np.ascontiguousarray(rows.data),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.indptr, dtype=np.int32),
    )
