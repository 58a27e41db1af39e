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
from functools import cached_property
from math import log2
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.checked_value import CheckedValue, check_rule
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.found import Nearest, Within
from thetahat.models.neighbors.search.given_graph import nearest_in_graph, within_in_graph
from thetahat.models.neighbors.search.graph import (
    ApproximateSearch,
    GraphPoints,
    GraphWalker,
    NeighborGraph,
    grow,
)
from thetahat.models.neighbors.search.products import DenseProducts, SparseProducts

SCAN_SIZE = 40_000
"""Pairs × columns up to which a scan is faster than the preparation of products."""
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
    graph: NeighborGraph | None = None
    """Only for approximate neighbours."""

    def __post_init__(self) -> None:
        check_rule(
            self,
            (isinstance(self.rows, np.ndarray) or is_sparse(self.rows)) and self.rows.ndim == 2,
            "rows must be a matrix",
        )
        check_rule(self, self.algorithm in ("kd_tree", "brute"), "the algorithm is not known")
        if self.graph is not None:
            check_rule(
                self,
                isinstance(self.graph, NeighborGraph)
                and isinstance(self.rows, np.ndarray)
                and len(self.graph.links) == len(self.rows)
                and suits_graph(self.distance),
                "the graph must belong to the rows and the distance",
            )

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    def prepare(self) -> None:
        """Make the structure of the search now instead of with the first query."""
        if not isinstance(self.distance, Termwise):
            return
        if self.graph is not None:
            _ = self._walker
        elif self.algorithm == "kd_tree" or (self.distance.order != 2 and not is_sparse(self.rows)):
            _ = self._compiled

    def nearest(self, queries: Matrix | None, k: int) -> Nearest:
        """The k nearest rows of every query; None asks for the rows themselves."""
        given = self.rows if queries is None else queries
        if self.distance is None and is_sparse(given):
            return nearest_in_graph(given, k)
        if not isinstance(self.distance, Termwise):
            return self._joined(queries, k)
        points = self._embed(queries)
        found = self._nearest(points, k)
        distance = self.distance.from_reduced(found.distance, self.rows.shape[1])
        self._require_finite(distance)
        return Nearest(distance, found.row)

    def within(self, queries: Matrix | None, radius: float, by_distance: bool) -> Within:
        """All rows within the radius, in the order of their distances or of their numbers."""
        given = self.rows if queries is None else queries
        if self.distance is None and is_sparse(given):
            return within_in_graph(given, radius, by_distance)
        if not isinstance(self.distance, Termwise):
            return self._given_within(queries, radius, by_distance)
        points = _as_doubles(self._dense(self._embed(queries)))
        reduced = self.distance.to_reduced(radius, self.rows.shape[1])
        counts, row, distance = self._compiled.within(points, reduced, by_distance, n_threads())
        return Within(counts, row, self.distance.from_reduced(distance, self.rows.shape[1]))

    def _nearest(self, points: Matrix, k: int) -> Nearest:
        if self.graph is None or 2 * self._walker.width(k) > self.n_rows:
            return self._exact(points, k)
        found, queries = Nearest.empty(points.shape[0], k), _as_doubles(self._dense(points))
        self._walker.nearest(queries, found.distance, found.row)
        if (short := np.flatnonzero(found.row[:, -1] >= self.n_rows)).size:
            exact = self._exact(points[short], k)
            found.distance[short], found.row[short] = exact.distance, exact.row
        return found

    def _exact(self, points: Matrix, k: int) -> Nearest:
        if self._by_products(points.shape[0]):
            if is_sparse(points) != is_sparse(self._points):
                points = self._like_rows(points)
            wide = np.result_type(points.dtype, self._points.dtype)
            return self._products(wide).nearest(points.astype(wide, copy=False), k)
        found = Nearest.empty(points.shape[0], k)
        queries = _as_doubles(self._dense(points))
        step = max(16, WORK_AT_ONCE // (self.n_rows * max(1, queries.shape[1])))
        for start in range(0, len(queries), step):  # between two calls, an interrupt is noticed
            some = slice(start, start + step)
            self._compiled.nearest(
                queries[some], found.distance[some], found.row[some], n_threads()
            )
        return found

    def _by_products(self, n_queries: int) -> bool:
        assert isinstance(self.distance, Termwise)
        if self.algorithm == "kd_tree" or self.distance.order != 2:
            return False
        n, d = self._points.shape
        return is_sparse(self._points) or n_queries * n * d > SCAN_SIZE

    def _embed(self, queries: Matrix | None) -> Matrix:
        assert isinstance(self.distance, Termwise)
        return self._points if queries is None else self.distance.embedded(queries)

    def _like_rows(self, points: Matrix) -> Matrix:
        if not is_sparse(self._points):
            return self._dense(points)
        import scipy.sparse

        return scipy.sparse.csr_array(points)

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

    def _require_finite(self, distance: Array) -> None:
        if not np.isfinite(distance.max(initial=0.0)):
            query = int(np.argmax(~np.isfinite(distance).all(axis=1)))
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
            points, leaf_size, 1.0 if order is None else order, order is None, False, False, 0,
            n_threads(),
        )  # fmt: skip

    @cached_property
    def _walker(self) -> GraphWalker:
        assert self.graph is not None
        assert isinstance(self.distance, Termwise)
        return GraphWalker(self.graph, np.ascontiguousarray(self._points), self.distance.order == 1)

    def with_graph(self, settings: ApproximateSearch) -> NeighborIndex:
        """The same index with a graph; few rows are compared one by one, which is faster."""
        if self.n_rows < LEAST_ROWS:
            return self
        assert isinstance(self.distance, Termwise)

        def true_neighbors(rows: Array, k: int) -> Array:
            return self._exact(self._points[rows], k).row

        points = GraphPoints.of(np.asarray(self._points))
        graph = grow(points, self.distance.order == 1, settings, true_neighbors)
        return replace(self, graph=graph)

    @cached_property
    def _by_dtype(self) -> dict[np.dtype[Any], DenseProducts | SparseProducts]:
        return {}

    def _products(self, dtype: np.dtype[Any]) -> DenseProducts | SparseProducts:
        made = self._by_dtype.get(dtype)
        if made is None:
            points = self._points.astype(dtype, copy=False)
            made = SparseProducts(points) if is_sparse(points) else DenseProducts(points)
            self._by_dtype[dtype] = made
        return made

    def _joined(self, queries: Matrix | None, k: int) -> Nearest:
        found = [
            _select(block, k) for _, block in self._pairs(self.rows if queries is None else queries)
        ]
        return Nearest(
            np.concatenate([each.distance for each in found]),
            np.concatenate([each.row for each in found]),
        )

    def _given_within(self, queries: Matrix | None, radius: float, by_distance: bool) -> Within:
        counts, rows, distances = [], [], []
        for _, block in self._pairs(self.rows if queries is None else queries):
            for line in block:
                row = np.flatnonzero(line <= radius)
                if by_distance:
                    row = row[np.argsort(line[row], kind="stable")]
                counts.append(row.shape[0])
                rows.append(row)
                distances.append(line[row])
        return Within(
            np.asarray(counts, dtype=np.int64),
            np.concatenate(rows).astype(np.int64),
            np.concatenate(distances),
        )

    def _pairs(self, queries: Matrix) -> Iterator[tuple[int, Array]]:
        """Blocks of the matrix of distances, queries × rows, with the number of the first query."""
        measure: Callable[[Array], Array] = _as_doubles
        if self.distance is not None:
            rows, distance = self._dense(self.rows), self.distance
            measure = lambda block: _as_doubles(distance._between_all(block, rows))  # noqa: E731
        step = max(1, PAIRS_AT_ONCE // self.n_rows)
        for start in range(0, queries.shape[0], step):
            yield start, measure(self._dense(queries[start : start + step]))


def suits_graph(distance: Distance | None) -> bool:
    """Whether walks through a graph can use the distance: a sum of squares or absolute values."""
    return isinstance(distance, Termwise) and distance.order in (1, 2)


def suits_tree(n_rows: int, n_columns: int) -> bool:
    """Whether a kd-tree excludes so many rows that it is faster than products; as measured."""
    return n_columns <= 0.61 * log2(n_rows)


def _select(distances: Array, k: int) -> Nearest:
    found = Nearest.empty(distances.shape[0], k)
    _native.smallest_per_row(distances, found.distance, found.row, n_threads())
    return found


def _as_doubles(points: Array) -> Array:
    return np.ascontiguousarray(points, dtype=np.float64)
