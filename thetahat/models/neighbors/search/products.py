"""Nearest rows by matrix products, ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, block by block.

BLAS computes the products of dense rows, compiled code those of sparse ones, and a compiled filter
measures again, exactly, the few rows that may be near enough. Distances and neighbours have the
bits of a scan. Products in single precision take half the time, and serve the filter as well where
their rounding is small beside the distances of neighbours.

Cost: O(n m d) time and O(block) memory beside a copy of the rows in each precision.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import n_threads, parallel_for
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.models.neighbors.search.found import Nearest, Room, Within

QUERIES, ROWS = 256, 384
"""Size of a block of products: it stays in the cache until the filter has read it."""
MANY_QUERIES = 512
"""Queries from which on the rows are also kept in single precision."""
PAIRS_AT_ONCE = 1 << 21
"""Products of one block where all rows are needed together."""
SINGLE = 1e30
"""Products of two entries beyond which sums may overflow in single precision."""
SMALL_ROUNDING = 0.01
"""Largest rounding of single precision, as a share of the distance to the last neighbour, for which
the filter still leaves few rows."""
SINGLE_LENGTHS = (1e-25, 1e30)
"""Squared lengths of rows between which products in single precision neither under- nor overflow
by more than their rounding."""
SPARSE_PAIRS = 1 << 26
"""Pairs of sparse rows of one compiled call, between two of which an interrupt is noticed."""


class Factors(NamedTuple):
    """Centred rows, of whose products with queries the filter makes bounds of distances."""

    rows: Array
    low: Array
    """The lower bounds of their squared lengths."""
    slack: float
    """The share of these that is beyond all rounding."""


class DenseProducts:
    """The rows, centred so that rounding is small, and the lower bounds of their lengths."""

    def __init__(self, rows: Array) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.centre = self.rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
        # BLAS copies the columns of a block faster than its rows.
        self.centred = np.asfortranarray(self.rows - self.centre)
        self.slack = _slack(rows.shape[1], rows.dtype)
        self.low = _lengths(self.centred, self.slack).astype(rows.dtype)

    def nearest(self, queries: Array, k: int) -> Nearest:
        """The nearest rows of every query; their distances are squared."""
        queries = np.ascontiguousarray(queries)
        found = Nearest.empty(queries.shape[0], k)
        double = Factors(self.centred, self.low, self.slack)

        def search(some: slice, factors: Factors) -> None:
            centred = queries[some] - self.centre
            length = _lengths(centred, 0.0)
            if not length.max() <= SINGLE_LENGTHS[1]:
                factors = double
            centred = centred.astype(factors.rows.dtype, copy=False)
            query_low = (1 - factors.slack) * length
            single = factors.rows.dtype == np.float32
            kind = _native.NearCandidates32 if single else _native.NearCandidates64
            distance, row = found.distance[some], found.row[some]
            candidates = kind(row.shape[0], k)
            with np.errstate(over="ignore", invalid="ignore"):
                for first in range(0, self.rows.shape[0], ROWS):
                    last = first + ROWS
                    products = centred @ factors.rows[first:last].T
                    _native.near_products(
                        products,
                        factors.low[first:last],
                        query_low,
                        factors.slack,
                        first,
                        queries[some],
                        self.rows,
                        candidates,
                        distance,
                        row,
                    )
            _native.measure_candidates(candidates, queries[some], self.rows, distance, row)

        m, begin, factors = queries.shape[0], 0, double
        if m >= MANY_QUERIES and self.rows.dtype == np.float64 and self._single is not None:
            # The first queries say how far neighbours are.
            begin = QUERIES // 4
            parallel_for(lambda some: search(some, double), _slices(0, begin, QUERIES // 8))
            rounding = 2 * self._single.slack * float(self._single.low.mean(dtype=np.float64))
            if rounding <= SMALL_ROUNDING * float(np.median(found.distance[:begin, -1])):
                factors = self._single
        parallel_for(lambda some: search(some, factors), _slices(begin, m, QUERIES))
        return found

    @cached_property
    def _single(self) -> Factors | None:
        """The rows in single precision; None if its range is too small for them."""
        length = _lengths(self.centred, 0.0)
        least = length.min(initial=np.inf, where=length > 0)
        if not SINGLE_LENGTHS[0] <= least <= length.max() <= SINGLE_LENGTHS[1]:
            return None
        slack = _slack(self.rows.shape[1], np.float32)
        low = ((1 - slack) * length).astype(np.float32)
        return Factors(self.centred.astype(np.float32, order="F"), low, slack)

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


def _slices(begin: int, end: int, most: int) -> list[slice]:
    """Equal slices of at most so many queries, as many for one thread as for another."""
    count = -(-(end - begin) // most)
    if count > 1:
        count = min(end - begin, -(-count // n_threads()) * n_threads())
    bounds = [begin + (end - begin) * place // max(count, 1) for place in range(count + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]


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
