"""Approximate neighbours by walks through a graph of near rows, with a measured recall.

The graph is grown in batches of rows in random order (see native/neighbors/neighbor_graph.cpp).
Some rows are held out until the end: with them as queries, the width of the beam is chosen so that
a search finds the wanted share of the true neighbours. Walks compare rows in single precision, in
which they are centred and scaled; the neighbours are then measured in double precision, so that
distances have the same bits as in an exact search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part, number, whole

FIRST_ROWS = 512
"""Rows of the first batch, of which all pairs are compared."""
BATCHES = 100
"""Later batches have at most this share of the rows, because they do not link their own rows."""
SLACK = 1.2
"""A row is not linked if it is nearer to a linked row by this factor. Larger: more links."""
HELD_OUT, MEASURED = 400, 10
"""Queries, and their neighbours, from which the recall is estimated."""
WIDEST = 4096
QUERIES_AT_ONCE = 4096
"""Queries of one compiled call, so that an interrupt is noticed."""
FARTHEST = 1e15
"""Queries are brought this near, in units of the rows, so that squares do not overflow."""


@dataclass(frozen=True)
class ApproximateSearch(Part):
    """Settings of the approximate search: ``algorithm=ApproximateSearch(recall=0.99)``.

    A graph links every row to about ``n_links`` rows in different directions. A search walks from
    row to row towards its query and keeps the nearest rows found so far, as many as its width. The
    width is chosen in `fit` such that held-out rows find the requested share of their true
    neighbours. If a row has many equal copies (more than ``n_links/4``), the graph links the
    distinct rows, and results name the copies by their row numbers. Fewer than 1,000 distinct rows
    are searched exactly.

    Formula: recall = (number of true neighbours found)/k, on average over queries.

    Cost: to build, about n·w·R distances for the width w and R links, on all cores; a query
    measures some hundred to some thousand rows, for any n. Memory: 6·R·n bytes and two copies of
    the rows.

    Parameters
    ----------
    recall : float, default=0.95
        Share of the true neighbours that a search should find on average. It is measured with 400
        held-out rows and k = 10 neighbours. For more neighbours the width grows in proportion to k,
        and the recall is usually larger (on Gaussian rows, 0.99 and more for k = 50 and 100 with
        the default); for fewer neighbours the width is that of k = 10. Larger values make queries
        slower. Must be above 0 and below 1.
    n_links : int, default=32
        Number of links of a row (R). Larger values help for many columns without structure, and
        take more time and memory. Must be from 4 to 128.
    width : int, default=64
        Number of nearest rows that are kept while the graph is built (w). Larger values give a
        better graph and a slower `fit`. Must be at least 8.
    random_state : int, default=0
        Seed for the order of the rows, a whole number that is not negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((3000, 16))
    >>> search = th.NearestNeighbors(algorithm=th.ApproximateSearch(recall=0.9)).fit(X)
    >>> search.kneighbors(X[:2], n_neighbors=1, return_distance=False).ravel().tolist()
    [0, 1]
    """

    recall: float = number(0.95, above=0, below=1)
    n_links: int = whole(32, at_least=4)
    width: int = whole(64, at_least=8)
    random_state: int = whole(0, at_least=0)

    name = "approximate"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_links > 128:
            raise ParameterError(
                f"ApproximateSearch(n_links={self.n_links}): n_links must be from 4 to 128."
            )


@dataclass(frozen=True)
class NeighborGraph(CheckedValue):
    """The links of every row, and how wide a search must be for the wanted recall."""

    links: Array
    """(n, capacity), int32; −1 after the last link of a row."""
    entry: int
    width: int
    recall: float
    """The measured one."""

    def __post_init__(self) -> None:
        check_arrays(self, {"links": (np.dtype(np.int32), (None, None))})
        n, capacity = self.links.shape
        check_rule(self, 0 < capacity <= 256, "a row must have from 1 to 256 links")
        check_rule(
            self,
            n > 0 and self.links.min() >= -1 and self.links.max() < n,
            "every link must be the number of a row",
        )
        after = (self.links[:, 1:] >= 0) & (self.links[:, :-1] < 0)
        check_rule(self, not after.any(), "no link may follow the end of the links of a row")
        whole_numbers = all(type(value) is int for value in (self.entry, self.width))
        check_rule(
            self,
            whole_numbers and 0 <= self.entry < n and 0 < self.width <= WIDEST,
            "entry and width must be whole numbers within the rows",
        )


@dataclass(frozen=True)
class GraphPoints:
    """Rows as float32, centred and scaled, with columns filled up to a multiple of four."""

    rows: Array
    centre: Array
    scale: float

    @classmethod
    def of(cls, rows: Array) -> GraphPoints:
        centre = rows.mean(axis=0, dtype=np.float64)
        largest = max(float(np.abs(rows.max(axis=0) - centre).max(initial=0.0)),
                      float(np.abs(rows.min(axis=0) - centre).max(initial=0.0)))  # fmt: skip
        scale = 1.0 / largest if largest > 1e-300 else 1.0
        return cls(_single(rows, centre, scale), centre, scale)

    def seen(self, queries: Array) -> Array:
        return _single(queries, self.centre, self.scale)


def _single(rows: Array, centre: Array, scale: float) -> Array:
    d = rows.shape[1]
    found = np.zeros((rows.shape[0], -(-d // 4) * 4), dtype=np.float32)
    for start in range(0, len(rows), QUERIES_AT_ONCE):
        some = slice(start, start + QUERIES_AT_ONCE)
        moved = (rows[some].astype(np.float64) - centre) * scale
        found[some, :d] = np.clip(moved, -FARTHEST, FARTHEST)
    return found


def grow(
    points: GraphPoints,
    manhattan: bool,
    settings: ApproximateSearch,
    true_neighbors: Callable[[Array, int], Array],
) -> NeighborGraph:
    """Build the graph; ``true_neighbors(rows, k)`` finds those of some rows by an exact search."""
    n, R = len(points.rows), settings.n_links
    graph = _native.NeighborGraph(points.rows, R + R // 2, manhattan)
    order = np.random.default_rng(settings.random_state).permutation(n)
    order = np.append(graph.centre, order[order != graph.centre]).astype(np.int32)
    kept = n - min(HELD_OUT, n // 10)
    first = min(kept, FIRST_ROWS)

    def extend(begin: int, last: int) -> None:
        while begin < last:
            end = min(last, begin + max(32, min(begin // 8, n // BATCHES)))
            graph.extend(order[begin:end], settings.width, R, SLACK, n_threads())
            begin = end

    graph.first(order[:first], R, SLACK, n_threads())
    extend(first, kept)
    width, recall = _width(graph, points, order[kept:], settings.recall, true_neighbors)
    extend(kept, n)
    return NeighborGraph(graph.links(), int(order[0]), width, recall)


def _width(
    graph: _native.NeighborGraph,
    points: GraphPoints,
    held_out: Array,
    wanted: float,
    true_neighbors: Callable[[Array, int], Array],
) -> tuple[int, float]:
    """A width with the wanted recall and two standard errors more, and a step more than that."""
    k = min(MEASURED, len(points.rows) - 2 * len(held_out))
    # Held-out rows are not in the graph yet, so that they do not count as neighbours.
    nearest = true_neighbors(held_out, k + len(held_out))
    near = [row[~np.isin(row, held_out)][:k] for row in nearest]
    queries = np.ascontiguousarray(points.rows[held_out])
    width, recall = 16, 0.0
    while True:
        found = np.empty((len(queries), width), dtype=np.int32)
        graph.search(queries, found, n_threads())
        shares = np.array([np.isin(t, f).mean() for t, f in zip(near, found, strict=True)])
        recall = float(shares.mean())
        error = float(shares.std() / np.sqrt(len(shares)))
        wider, most = width * 5 // 4, min(WIDEST, len(points.rows)) // 2
        if recall - 2 * error >= wanted or recall == 1.0 or width > most:
            return wider, recall
        width = wider


class GraphWalker:
    """A graph with its points, ready for queries."""

    def __init__(self, graph: NeighborGraph, rows: Array, manhattan: bool) -> None:
        self.graph, self.rows, self.manhattan = graph, rows, manhattan
        self.points = GraphPoints.of(rows)
        self._compiled = _native.NeighborGraph(self.points.rows, graph.links.shape[1], manhattan)
        self._compiled.restore(graph.links, graph.entry)

    def width(self, k: int) -> int:
        """The width for k neighbours, in proportion where they are more than were measured."""
        return -(-self.graph.width * max(k, MEASURED) // MEASURED)

    def nearest(self, queries: Array, distance: Array, row: Array) -> None:
        """Fill the k nearest rows found; the row is at the end of int64 where there are fewer."""
        width = self.width(distance.shape[1])
        for start in range(0, len(queries), QUERIES_AT_ONCE):
            some = slice(start, start + QUERIES_AT_ONCE)
            seen = self.points.seen(queries[some])
            found = np.empty((len(seen), width), dtype=np.int32)
            self._compiled.search(seen, found, n_threads())
            _native.nearest_candidates(
                queries[some], self.rows, found, self.manhattan, distance[some], row[some],
                n_threads(),
            )  # fmt: skip
