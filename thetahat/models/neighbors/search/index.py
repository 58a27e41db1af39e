"""Rows in which neighbours are searched, under any distance, by the method that suits them.

==============  =============================================================================
kd-tree         dense rows of few columns, distances that are sums or maxima over columns
products        Euclidean-like distances of many columns, dense or sparse: BLAS and a filter
graph           Euclidean-like and Manhattan distances, if neighbours may be approximate
scan            other distances of dense rows: every row is measured, in compiled code
all pairs       a function of the user's own, or a given matrix of distances
==============  =============================================================================

Each gives the same neighbours and distances, bit for bit, wherever two can be used; only a graph
may miss some neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log2
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.extremes import SMALLEST
from thetahat.data.validation import is_sparse
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue
from thetahat.foundation.errors import MemoryBudgetError
from thetahat.foundation.memory import memory_for, require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.all_pairs import nearest_of_pairs, within_of_pairs
from thetahat.models.neighbors.search.around import Around
from thetahat.models.neighbors.search.copies import Copies
from thetahat.models.neighbors.search.extreme_distances import (
    nearest_with_extremes,
    within_with_extremes,
)
from thetahat.models.neighbors.search.found import Nearest, Room, Within
from thetahat.models.neighbors.search.gauss_transform import gauss_sums, suits_transform
from thetahat.models.neighbors.search.given_graph import nearest_in_graph, within_in_graph
from thetahat.models.neighbors.search.graph import (
    ApproximateSearch,
    GraphPoints,
    GraphWalker,
    NeighborGraph,
    grow,
)
from thetahat.models.neighbors.search.index_checks import (
    check_index,
    require_visible_differences,
    summed_power,
)
from thetahat.models.neighbors.search.products import (
    SINGLE,
    DenseProducts,
    SparseProducts,
    largest_entry,
)

SCAN_SIZE = 1 << 20
"""Pairs × columns up to which a scan for the nearest rows is faster than products."""
SCAN_SIZE_WITHIN = 40_000
"""The same for all rows within a radius."""
FEW_QUERIES, CACHED_SIZE = 4, 1 << 20
"""So few queries are scanned if rows × columns is not larger: a filter would cost more."""
PAIRS_AT_ONCE = 1 << 20
LEAST_ROWS = 1000
"""Fewer rows are compared one by one even if neighbours may be approximate."""
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
    graph: NeighborGraph | None = None
    """Only for approximate neighbours."""

    def __post_init__(self) -> None:
        check_index(self)
        if self.distance is not None and is_sparse(self.rows):
            if not self.rows.has_sorted_indices:
                object.__setattr__(self, "rows", self.rows.sorted_indices())

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    def prepare(self, sums: bool = True) -> None:
        """Make the structure of the search now.

        With `sums`, rows whose distances vanish are refused, because sums around queries do not
        measure them again.
        """
        if sums or not isinstance(self.distance, Termwise):
            require_visible_differences(self.rows, self.distance)
        if not isinstance(self.distance, Termwise):
            return
        if self.graph is not None:
            _ = self._walker if self._distinct is None else self._distinct[0]._walker
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
        given = self.rows if queries is None else queries
        if self.distance is None and is_sparse(given):
            return nearest_in_graph(given, k)
        if not isinstance(self.distance, Termwise):
            own = queries is None and self.distance is None
            return nearest_of_pairs(self._pairs(given), given.shape[0], k, own)
        points = self._embed(queries)
        found, d = self._nearest(points, k), self.rows.shape[1]
        return nearest_with_extremes(self.distance, self._points, points, d, found)

    def within(self, queries: Matrix | None, radius: Array | float, by_distance: bool) -> Within:
        """All rows within the radius, in the order of their distances or of their numbers.

        There may be one radius for each query.
        """
        given = self.rows if queries is None else queries
        n_queries = given.shape[0]
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (n_queries,))
        room = Room(n_queries, self.n_rows)
        try:
            if self.distance is None and is_sparse(given):
                return within_in_graph(given, radii, by_distance, room)
            if not isinstance(self.distance, Termwise):
                return within_of_pairs(self._pairs(given), radii, by_distance, room)
            points, reduced = self._embed(queries), self._reduced(radii)
            found = self._within(points, reduced, by_distance, room)
        except MemoryBudgetError:
            raise
        except MemoryError as failure:
            raise room.exceeded() from failure
        return within_with_extremes(
            self.distance, self._points, points, self.rows.shape[1], found, radii, reduced,
            by_distance,
        )  # fmt: skip

    def count_within(self, queries: Matrix, radius: Array | float) -> Array:
        """The number of rows within the radius of every query."""
        if not isinstance(self.distance, Termwise) or is_sparse(self.rows):
            return self.within(queries, radius, False).counts
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (queries.shape[0],))
        if summed_power(self.distance) is not None:
            reduced = self._reduced(radii)
            if ((reduced < SMALLEST) | ~np.isfinite(reduced)).any():
                return self.within(queries, radius, False).counts
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

    def moments(self, queries: Matrix, around: Around) -> tuple[Array, Array]:
        """The weighted sums of the rows around every query, of which A is an upper triangle."""
        sums = around.empty()
        if not isinstance(self.distance, Termwise):
            for start, block in self._pairs(queries):
                around.add_pairs(block, sums, start)
            return sums
        points = _as_doubles(self._dense(self._embed(queries)))
        rows = _as_doubles(self._dense(self._points))
        if around.suits_products(rows, points, self.distance):
            around.add_products(rows, points, sums)
            return sums
        work = points.shape[1] + around.terms.n_terms * (around.terms.n_terms + sums[1].shape[1])
        d = self.rows.shape[1]
        for some in self._steps(points, work):
            around.add_compiled(self._compiled, points[some], self.distance, d, sums, some)
        return sums

    def gauss_moments(self, queries: Matrix, around: Around) -> tuple[Array, Array] | None:
        """As `moments`, by the fast Gauss transform; None where that is not possible or slower."""
        if not around.is_gaussian_sum(self.distance) or is_sparse(self._points):
            return None
        rows, width = _as_doubles(self._points), float(around.widths[0])
        n_sums = 1 + around.values.shape[1]
        if (around.widths != width).any() or not suits_transform(
            rows, queries.shape[0], width, around.reach, n_sums
        ):
            return None
        points = _as_doubles(self._dense(self._embed(queries)))
        found = gauss_sums(rows, around.loads(), points, width, around.reach)
        return found[:, :1], found[:, 1:]

    def _nearest(self, points: Matrix, k: int) -> Nearest:
        if self.graph is None:
            return self._exact(points, k)
        if (distinct := self._distinct) is not None:
            if k > distinct[0].n_rows:
                return self._exact(points, k)
            return distinct[1].expanded(distinct[0]._nearest(points, k), k)
        if 2 * self._walker.width(k) > self.n_rows:
            return self._exact(points, k)
        found, queries = Nearest.empty(points.shape[0], k), _as_doubles(self._dense(points))
        self._walker.nearest(queries, found.distance, found.row)
        if (short := np.flatnonzero(found.row[:, -1] >= self.n_rows)).size:
            exact = self._exact(points[short], k)
            found.distance[short], found.row[short] = exact.distance, exact.row
        return found

    def _exact(self, points: Matrix, k: int) -> Nearest:
        if self.algorithm != "kd_tree" and self._by_products(points.shape[0], SCAN_SIZE):
            return self._products(points).nearest(self._for_products(points), k)
        found = Nearest.empty(points.shape[0], k)
        queries = _as_doubles(self._dense(points))
        if len(queries) <= 16:
            self._compiled.nearest(queries, found.distance, found.row, n_threads())
            return found
        for some in self._steps(queries):
            part = found.distance[some], found.row[some]
            self._compiled.nearest(queries[some], *part, n_threads())
        return found

    def _within(self, points: Matrix, radius: Array, by_distance: bool, room: Room) -> Within:
        if self._by_products(points.shape[0], SCAN_SIZE_WITHIN):
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

    def _steps(self, queries: Array, work: int = 0) -> list[slice]:
        """Queries of one compiled call; between two calls, an interrupt is noticed."""
        step = max(16, WORK_AT_ONCE // (self.n_rows * max(1, work or queries.shape[1])))
        return [slice(start, start + step) for start in range(0, len(queries), step)]

    def _by_products(self, n_queries: int, scan_size: int) -> bool:
        assert isinstance(self.distance, Termwise)
        order = self.distance.order
        if is_sparse(self._points):
            return order in (1, 2)
        if self.algorithm == "kd_tree" or order != 2:
            return False
        n, d = self._points.shape
        scanned = scan_size if n_queries > FEW_QUERIES else n_queries * CACHED_SIZE
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
        return points.astype(self._product_dtype(points), copy=False)

    def _product_dtype(self, queries: Matrix) -> np.dtype[Any]:
        dtype = np.result_type(queries.dtype, self._points.dtype)
        largest = max(1.0, largest_entry(self._points)) if dtype == np.float32 else 0.0
        wide = largest * max(largest, largest_entry(queries)) > SINGLE
        return np.dtype(np.float64) if wide else dtype

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
    def _walker(self) -> GraphWalker:
        assert self.graph is not None
        assert isinstance(self.distance, Termwise)
        return GraphWalker(self.graph, np.ascontiguousarray(self._points), self.distance.order == 1)

    @cached_property
    def _distinct(self) -> tuple[NeighborIndex, Copies] | None:
        """The index of the distinct rows and their copies, if the graph links these alone."""
        if self.graph is None or len(self.graph.links) == self.n_rows:
            return None
        copies = Copies.of(np.asarray(self._points))
        return replace(self, rows=self.rows[copies.first]), copies

    def with_graph(self, settings: ApproximateSearch) -> NeighborIndex:
        """The same index with a graph; few rows are compared one by one, which is faster."""
        if self.n_rows < LEAST_ROWS:
            return self
        assert isinstance(self.distance, Termwise)
        copies = Copies.of(np.asarray(self._points))
        if copies.counts.max() > max(1, settings.n_links // 4):
            distinct = replace(self, rows=self.rows[copies.first])
            return replace(self, graph=distinct.with_graph(settings).graph)

        def true_neighbors(rows: Array, k: int) -> Array:
            return self._exact(self._points[rows], k).row

        points = GraphPoints.of(np.asarray(self._points))
        graph = grow(points, self.distance.order == 1, settings, true_neighbors)
        return replace(self, graph=graph)

    @cached_property
    def _by_dtype(self) -> dict[np.dtype[Any], DenseProducts | SparseProducts]:
        return {}

    def _products(self, queries: Matrix) -> DenseProducts | SparseProducts:
        assert isinstance(self.distance, Termwise)
        dtype = self._product_dtype(queries)
        made = self._by_dtype.get(dtype)
        if made is None:
            points = self._points.astype(dtype, copy=False)
            if is_sparse(points):
                made = SparseProducts(points, self.distance.order == 1)
            else:
                made = DenseProducts(points)
            self._by_dtype[dtype] = made
        return made

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
