"""Lengths of shortest paths between all rows in the graph of their neighbours.

Edges have both directions and the length of the distance of their ends. Parts of the graph that no
path connects are joined by one edge between the nearest rows of every two parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.spectral.laplacian import connected_components
from thetahat.models.neighbors.search.index import NeighborIndex

EDGES_AT_ONCE = 1 << 24
"""Sources × edges of one compiled call; between two calls, an interrupt is noticed."""


class DisconnectedGraph(DataError, RuntimeError):
    """A graph of which some rows cannot be reached from others, and no distances are known."""


class Edges(NamedTuple):
    """Edges of a graph, each from one row to another."""

    begin: Array
    end: Array
    length: Array

    def both_ways(self, n: int) -> Edges:
        """Every edge in both directions, once, ordered by its ends; the shortest of equal ones."""
        begin = np.concatenate([self.begin, self.end])
        end = np.concatenate([self.end, self.begin])
        length = np.concatenate([self.length, self.length])
        pair = begin * n + end
        order = np.lexsort((length, pair))
        pair = pair[order]
        order = order[np.append(True, pair[1:] != pair[:-1])] if pair.size else order
        return Edges(begin[order], end[order], length[order])

    def matrix(self, n: int) -> Matrix:
        """The graph as a sparse matrix with 1 for every edge."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(len(self.begin)), (self.begin, self.end)), shape=(n, n))


def geodesic_distances(edges: Edges, index: NeighborIndex, sparse_graph: bool, who: str) -> Array:
    """The lengths of shortest paths, (n, n). Warns if the graph had to be joined.

    Cost: O(n·e log n) for e edges.
    """
    n = index.n_rows
    edges = edges.both_ways(n)
    labels = connected_components(edges.matrix(n))
    count = int(labels.max(initial=0)) + 1
    if count > 1:
        found = f"The number of connected components of the neighbors graph is {count} > 1"
        if sparse_graph:
            raise DisconnectedGraph(
                f"{who}: {found}, and the distances between them are not in the sparse graph that "
                "was given. Use more neighbours, or pass all distances as a dense matrix."
            )
        warn(
            f"{who}: {found}. They were joined by edges between the nearest rows of every two, so "
            "that distances between them are not distances along the surface. Use more neighbours "
            "or a larger radius, or embed each component on its own."
        )
        links = joining_edges(index, labels, count)
        edges = Edges(*(np.concatenate(each) for each in zip(edges, links, strict=True)))
        edges = edges.both_ways(n)
    offsets = np.searchsorted(edges.begin, np.arange(n + 1)).astype(np.int64)
    ends = edges.end.astype(np.int32)
    lengths = np.ascontiguousarray(edges.length, dtype=np.float64)
    out = np.empty((n, n))
    step = max(16, EDGES_AT_ONCE // max(1, len(ends)))
    for first in range(0, n, step):
        _native.shortest_paths(
            offsets, ends, lengths, first, out[first : first + step], n_threads()
        )
    return out


def joining_edges(index: NeighborIndex, labels: Array, count: int) -> Edges:
    """An edge between the nearest rows of every two components. Cost: the distances of all rows."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count))
    parts = []
    for j in range(count - 1):
        inside = order[starts[j] : starts[j + 1]]
        others = order[starts[j + 1] :]
        distance, nearest = _nearest_of(index, others, inside)
        groups = labels[others]
        # The smallest distance of every other component; of equal ones that of the smallest row.
        best = np.lexsort((distance, groups))
        best = best[np.append(True, np.diff(groups[best]) > 0)]
        parts.append((others[best], nearest[best], distance[best]))
    begin, end, length = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Edges(begin, end, length)


def _nearest_of(index: NeighborIndex, queries: Array, rows: Array) -> tuple[Array, Array]:
    if index.distance is None:
        given = index.rows[np.ix_(queries, rows)]
        at = given.argmin(axis=1)
        return given[np.arange(len(queries)), at].astype(np.float64), rows[at]
    some = NeighborIndex(index.rows[rows], index.distance, "brute", index.leaf_size)
    found = some.nearest(index.rows[queries], 1)
    return found.distance[:, 0], rows[found.row[:, 0]]
