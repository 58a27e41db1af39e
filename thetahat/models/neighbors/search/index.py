"""Rows in which neighbours are searched, under any distance, by the method that suits them.

==============  =============================================================================
kd-tree         dense rows of few columns, distances that are sums or maxima over columns
products        Euclidean-like distances of many columns, dense or sparse: BLAS and a filter
scan            other distances of dense rows: every row is measured, in compiled code
all pairs       a function of the user's own, or a given matrix of distances
==============  =============================================================================

Each gives the same neighbours and distances, bit for bit, wherever two can be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.checked_value import CheckedValue, check_rule
from thetahat.foundation.errors import DataError, MemoryBudgetError
from thetahat.foundation.memory import memory_for, require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.found import Nearest, Room, Within
from thetahat.models.neighbors.search.products import DenseProducts, SparseProducts

SCAN_SIZE = 40_000
"""Pairs × columns up to which a scan is faster than the preparation of products."""
FEW_QUERIES, CACHED_SIZE = 4, 1 << 20
"""So few queries are scanned if rows × columns is not larger: a filter would cost more."""
PAIRS_AT_ONCE = 1 << 20
WORK_AT_ONCE = 1 << 29
"""Queries × rows × columns of one compiled call: about a second where a tree excludes no row."""


@dataclass(frozen=True)
class NeighborIndex(CheckedValue):
    """Rows and a distance; the structures of the search are made when they are first needed."""

    rows: Matrix
    distance: Distance | None
    """None if queries are rows of a given distance matrix."""
    algorithm: str
    """"kd_tree" or "brute"."""
    leaf_size: int
    axis: str = "widest"
    """"widest" or "alternating": the column at which the rows of a kd-tree are divided."""
    pivot: str = "median"
    """"median" or "random": the value at which they are divided."""
    random_state: int = 0

    def __post_init__(self) -> None:
        rows, distance = self.rows, self.distance
        is_matrix = isinstance(rows, np.ndarray) or is_sparse(rows)
        check_rule(
            self,
            is_matrix and rows.ndim == 2 and rows.dtype.char in "fd" and 0 not in rows.shape,
            "rows must be a matrix of floating-point numbers",
        )
        check_rule(
            self, distance is None or isinstance(distance, Distance), "the distance is not known"
        )
        check_rule(
            self,
            distance is not None or (not is_sparse(rows) and rows.shape[0] == rows.shape[1]),
            "given distances must be a square matrix",
        )
        values = rows if isinstance(rows, np.ndarray) else rows.data
        may_miss = distance is not None and distance.accepts_missing
        check_rule(
            self,
            not (bool(np.isinf(values).any()) if may_miss else _any_not_finite(values)),
            "rows must hold finite numbers",
        )
        is_tree = isinstance(distance, Termwise) and distance.order is not None
        allowed = ("kd_tree", "brute") if is_tree and not is_sparse(rows) else ("brute",)
        check_rule(self, self.algorithm in allowed, "the algorithm is not known")
        check_rule(self, self.axis in ("widest", "alternating"), "the axis is not known")
        check_rule(self, self.pivot in ("median", "random"), "the pivot is not known")
        for name, least in (("leaf_size", 1), ("random_state", 0)):
            value = getattr(self, name)
            check_rule(
                self,
                isinstance(value, int | np.integer) and not isinstance(value, bool)
                and bool(least <= value < 2**63),
                f"{name} must be a whole number",
            )  # fmt: skip
        if isinstance(distance, Termwise):
            distance.fitted(rows)  # raises an error if its parameters are for other columns
        if is_sparse(rows) and not rows.has_sorted_indices:
            object.__setattr__(self, "rows", rows.sorted_indices())

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    def prepare(self) -> None:
        """Make the structure of the search now instead of with the first query."""
        if not isinstance(self.distance, Termwise):
            return
        n, d = self.rows.shape
        if self.algorithm == "kd_tree" or (self.distance.order != 2 and not is_sparse(self.rows)):
            require_memory(
                8 * (3 * n * d + 4 * n),
                f"Nearest neighbours: the search structure of {n} rows with {d} columns",
                "Use fewer rows.",
            )
            _ = self._compiled

    def nearest(self, queries: Matrix | None, k: int) -> Nearest:
        """The k nearest rows of every query; None asks for the rows themselves."""
        if not isinstance(self.distance, Termwise):
            return self._joined(queries, k)
        points = self._embed(queries)
        found = self._nearest(points, k)
        distance = self.distance.from_reduced(found.distance, self.rows.shape[1])
        if not distance[:, -1].max(initial=0.0) < inf:
            self._require_finite(distance)
        return Nearest(distance, found.row)

    def within(self, queries: Matrix | None, radius: Array | float, by_distance: bool) -> Within:
        """All rows within the radius, in the order of their distances or of their numbers.

        There may be one radius for each query.
        """
        n_queries = (self.rows if queries is None else queries).shape[0]
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (n_queries,))
        room = Room(n_queries, self.n_rows)
        try:
            if not isinstance(self.distance, Termwise):
                return self._given_within(queries, radii, by_distance, room)
            found = self._within(self._embed(queries), self._reduced(radii), by_distance, room)
        except MemoryBudgetError:
            raise
        except MemoryError as failure:
            raise room.exceeded() from failure
        distance = self.distance.from_reduced(found.distance, self.rows.shape[1])
        if not np.isfinite(distance.max(initial=0.0)):
            self._require_finite(distance[:, None], np.repeat(np.arange(n_queries), found.counts))
        return Within(found.counts, found.row, distance)

    def count_within(self, queries: Matrix, radius: Array | float) -> Array:
        """The number of rows within the radius of every query."""
        if not isinstance(self.distance, Termwise) or is_sparse(self.rows):
            return self.within(queries, radius, False).counts
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (queries.shape[0],))
        points = _as_doubles(self._dense(self._embed(queries)))
        counts = np.empty(points.shape[0], dtype=np.int64)
        self._compiled.count(points, self._reduced(radii), counts, n_threads())
        return counts

    def _reduced(self, radii: Array) -> Array:
        assert isinstance(self.distance, Termwise)
        reduce, d = self.distance.to_reduced, self.rows.shape[1]
        if (radii == radii[:1]).all():
            return np.full(radii.shape, reduce(float(radii[0]), d) if radii.size else 0.0)
        return np.array([reduce(each, d) for each in radii.tolist()])

    def _nearest(self, points: Matrix, k: int) -> Nearest:
        if self.algorithm != "kd_tree" and self._by_products(points.shape[0]):
            return self._products(points).nearest(self._for_products(points), k)
        found = Nearest.empty(points.shape[0], k)
        queries = _as_doubles(self._dense(points))
        if len(queries) <= 16:
            self._compiled.nearest(queries, found.distance, found.row, n_threads())
            return found
        for some in self._steps(queries):
            self._compiled.nearest(
                queries[some], found.distance[some], found.row[some], n_threads()
            )
        return found

    def _within(self, points: Matrix, radius: Array, by_distance: bool, room: Room) -> Within:
        if self._by_products(points.shape[0]):
            products = self._products(points)
            return products.within(self._for_products(points), radius, by_distance, room)
        queries, parts = _as_doubles(self._dense(points)), []
        for some in self._steps(queries):
            parts.append(
                self._compiled.within(
                    queries[some], radius[some], by_distance, max(0, room.left), n_threads()
                )
            )
            room.take(len(parts[-1][1]))
        return Within.joined(parts)

    def _steps(self, queries: Array) -> list[slice]:
        """Queries of one compiled call; between two calls, an interrupt is noticed."""
        step = max(16, WORK_AT_ONCE // (self.n_rows * max(1, queries.shape[1])))
        return [slice(start, start + step) for start in range(0, len(queries), step)]

    def _by_products(self, n_queries: int) -> bool:
        assert isinstance(self.distance, Termwise)
        order = self.distance.order
        if is_sparse(self._points):
            return order in (1, 2)
        if self.algorithm == "kd_tree" or order != 2:
            return False
        n, d = self._points.shape
        scanned = SCAN_SIZE if n_queries > FEW_QUERIES else n_queries * CACHED_SIZE
        return bool(n_queries * n * d > scanned)

    def _embed(self, queries: Matrix | None) -> Matrix:
        assert isinstance(self.distance, Termwise)
        return self._points if queries is None else self.distance.embedded(queries)

    def _for_products(self, points: Matrix) -> Matrix:
        if is_sparse(points) != is_sparse(self._points):
            if is_sparse(points):
                points = self._dense(points)
            else:
                import scipy.sparse

                points = scipy.sparse.csr_array(points)
        wide = np.result_type(points.dtype, self._points.dtype)
        return points.astype(wide, copy=False)

    def _dense(self, points: Matrix) -> Array:
        if not is_sparse(points):
            return np.asarray(points)
        require_memory(
            8 * points.shape[0] * points.shape[1],
            f"Nearest neighbours under {self.distance!r} of {points.shape[0]} sparse rows with "
            f"{points.shape[1]} columns, as a dense array,",
            "Use the Euclidean or cosine distance, or fewer rows at a time.",
        )
        return np.asarray(points.toarray())

    def _require_finite(self, distance: Array, queries: Array | None = None) -> None:
        if not np.isfinite(distance.max(initial=0.0)):
            query = int(np.argmax(~np.isfinite(distance).all(axis=1)))
            query = query if queries is None else int(queries[query])
            raise DataError(
                f"Nearest neighbours: the distances of query {query} are too large for floating-"
                "point numbers (they overflow to infinity). Scale the columns first, for example "
                "with th.Standardizer."
            )

    @cached_property
    def _points(self) -> Matrix:
        assert isinstance(self.distance, Termwise)
        return self.distance.embedded(self.rows)

    @cached_property
    def _compiled(self) -> _native.NearestRows:
        assert isinstance(self.distance, Termwise)
        points = _as_doubles(self._dense(self._points))
        order = self.distance.order
        leaf_size = self.leaf_size if self.algorithm == "kd_tree" else max(1, points.shape[0])
        return _native.NearestRows(
            points, int(leaf_size), 1.0 if order is None else order, order is None,
            self.axis == "alternating", self.pivot == "random", int(self.random_state),
            n_threads(),
        )  # fmt: skip

    @cached_property
    def _by_dtype(self) -> dict[np.dtype[Any], DenseProducts | SparseProducts]:
        return {}

    def _products(self, queries: Matrix) -> DenseProducts | SparseProducts:
        assert isinstance(self.distance, Termwise)
        dtype = np.result_type(queries.dtype, self._points.dtype)
        made = self._by_dtype.get(dtype)
        if made is None:
            points = self._points.astype(dtype, copy=False)
            if is_sparse(points):
                made = SparseProducts(points, self.distance.order == 1)
            else:
                made = DenseProducts(points)
            self._by_dtype[dtype] = made
        return made

    def _joined(self, queries: Matrix | None, k: int) -> Nearest:
        queries = self.rows if queries is None else queries
        found = Nearest.empty(queries.shape[0], k)
        for start, block in self._pairs(queries):
            some = slice(start, start + block.shape[0])
            _native.smallest_per_row(block, found.distance[some], found.row[some], n_threads())
        return found

    def _given_within(
        self, queries: Matrix | None, radii: Array, by_distance: bool, room: Room
    ) -> Within:
        parts = []
        for start, block in self._pairs(self.rows if queries is None else queries):
            near = block <= radii[start : start + block.shape[0], None]
            query, row = np.nonzero(near)
            room.take(row.shape[0])
            distance = block[near]
            if by_distance:
                order = np.lexsort((row, distance, query))
                row, distance = row[order], distance[order]
            parts.append((np.count_nonzero(near, axis=1), row, distance))
        return Within.joined(parts)

    def _pairs(self, queries: Matrix) -> Iterator[tuple[int, Array]]:
        """Blocks of the matrix of distances, queries × rows, with the number of the first query."""
        measure: Callable[[Array], Array] = _as_doubles
        if self.distance is not None:
            rows, distance = self._dense(self.rows), self.distance
            measure = lambda block: _as_doubles(distance._between_all(block, rows))  # noqa: E731
        at_once = min(PAIRS_AT_ONCE, memory_for(8 * PAIRS_AT_ONCE) // 16)
        step = max(1, at_once // self.n_rows)
        for start in range(0, queries.shape[0], step):
            yield start, measure(self._dense(queries[start : start + step]))


def suits_tree(n_rows: int, n_columns: int) -> bool:
    """Whether a kd-tree excludes so many rows that it is faster than products; as measured."""
    return n_columns <= 0.61 * log2(n_rows)


def _as_doubles(points: Array) -> Array:
    return np.ascontiguousarray(points, dtype=np.float64)


def _any_not_finite(values: Array) -> bool:
    # The sum is finite unless an entry is not, or the sum overflows; look closer only then.
    with np.errstate(over="ignore", invalid="ignore"):
        return not (np.isfinite(values.sum()) or np.isfinite(values).all())
