"""Hierarchies in which only clusters that a graph joins are merged."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.validation import is_sparse
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance
from thetahat.models.cluster.hierarchy.dissimilarities import distance_of, triangle_of_given
from thetahat.models.cluster.hierarchy.merging import LINKAGES, centred, numbered

PAIRS_AT_ONCE = 1 << 18
_REMEDY = "Pass 1 or True for an edge, and 0 or False for none."


class Measure:
    """Dissimilarities of some pairs of rows, computed or looked up."""

    def __init__(self, rows: Array, metric: Any, who: str) -> None:
        self.rows = rows
        self.distance: Distance | None = distance_of(metric, rows, who)
        self.matrix: Array | None = None
        if self.distance is None:
            given = metric(rows) if callable(metric) else rows
            triangle_of_given(given, len(rows), who)
            self.matrix = np.asarray(given, dtype=np.float64)

    def between(self, first: Array, second: Array) -> Array:
        """All dissimilarities of two sets of rows."""
        if self.matrix is not None:
            return self.matrix[np.ix_(first, second)]
        assert self.distance is not None
        return self.distance._between_all(self.rows[first], self.rows[second])

    def along(self, first: Array, second: Array) -> Array:
        """The dissimilarities of pairs."""
        if self.matrix is not None:
            return np.asarray(self.matrix[first, second])
        assert self.distance is not None
        found = np.empty(len(first))
        # The pairs of one row lie together.
        bounds = np.flatnonzero(np.diff(first, prepend=-1, append=-1))
        for start, end in pairwise(bounds.tolist()):
            row = self.rows[first[start] : first[start] + 1]
            found[start:end] = self.distance._between_all(row, self.rows[second[start:end]])[0]
        return found


def merged_along(
    rows: Array, metric: Any, linkage: str, graph: Any, n_merges: int, who: str
) -> tuple[Array, Array, int]:
    """Merges along the edges of a graph, their heights, and the number of its components."""
    measure = Measure(rows, metric, who)
    joined, n_parts = _connected(_symmetric(graph, len(rows), who), measure, who)
    indptr, indices = joined.indptr.astype(np.int64), joined.indices.astype(np.int64)
    height = np.zeros(len(indices))
    points = np.zeros((len(rows), 1))
    if linkage == "ward":
        points = centred(rows)
    else:
        first = np.repeat(np.arange(len(rows)), np.diff(indptr))
        height = measure.along(first, indices)
        if linkage == "single":
            tree = shortest_tree(first, indices, height, len(rows))
            children, heights = numbered(first[tree], indices[tree], height[tree])
            return children[:n_merges], heights[:n_merges], n_parts
    children, heights = np.empty((n_merges, 2), dtype=np.int64), np.empty(n_merges)
    count = _native.graph_linkage(
        indptr, indices, height, points, LINKAGES[linkage], children, heights
    )
    assert count == n_merges
    return children, heights, n_parts


def shortest_tree(first: Array, second: Array, length: Array, n: int) -> Array:
    """The numbers of the edges of a minimum spanning tree of n rows, fewer if some are not joined.

    Of edges of one length, those between smaller row numbers are taken. Cost: O(m log m).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    # Ranks in place of lengths, because SciPy takes 0 for no edge, and ties depend on its order.
    place = np.lexsort((np.maximum(first, second), np.minimum(first, second), length))
    place = place[first[place] != second[place]]
    ranks = csr_array((np.arange(1.0, len(place) + 1), (first[place], second[place])), shape=(n, n))
    return np.asarray(place[minimum_spanning_tree(ranks).data.astype(np.int64) - 1])


def _symmetric(graph: Any, n: int, who: str) -> Any:
    """The graph with every edge in both directions and no edge from a row to itself."""
    from scipy.sparse import csr_array

    if not is_sparse(graph):
        graph = np.asarray(graph)
    if graph.ndim != 2 or graph.shape != (n, n):
        raise DataError(
            f"{who}: wrong shape for connectivity matrix: {graph.shape} when X is {n} rows. Pass a "
            f"matrix of shape ({n}, {n})."
        )
    edges = csr_array(_entries(graph, who) != 0)
    edges.setdiag(False)
    edges.eliminate_zeros()
    both = csr_array(edges + edges.T)
    both.sum_duplicates()
    both.sort_indices()
    return both


def _entries(graph: Any, who: str) -> Any:
    """The checked entries of the graph as a CSR array of numbers."""
    from scipy.sparse import csr_array

    if not is_sparse(graph):
        return csr_array(_numbers(graph, who) != 0)
    require_indices(graph, who, "connectivity")
    if graph.format not in ("csr", "csc", "coo", "bsr"):
        graph = graph.tocsr()
    graph = copy(graph)
    graph.data = _numbers(graph.data, who)  # before arithmetic, which takes native numbers only
    return csr_array(graph, copy=True)  # the sum of repeated entries changes it in place


def _numbers(values: Array, who: str) -> Array:
    """The values as numbers in native byte order."""
    kind = values.dtype.kind
    if kind == "O":
        text = next((each for each in values.flat if isinstance(each, str | bytes)), None)
        if text is not None:
            raise DataError(
                f"{who}: connectivity holds the text {text[:40]!r}, but its entries must be "
                f"numbers. {_REMEDY}"
            )
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as failure:
            raise DataError(
                f"{who}: connectivity holds objects that are not real numbers ({failure}). "
                f"{_REMEDY}"
            ) from failure
    elif kind not in "biuf":
        raise DataError(
            f"{who}: connectivity has dtype {values.dtype}, but its entries must be real numbers. "
            f"{_REMEDY}"
        )
    elif kind == "f":  # SciPy's sparse arrays take no float16
        values = values.astype(np.result_type(values.dtype, np.float64), copy=False)
    if np.isnan(values).any():
        raise DataError(f"{who}: connectivity contains NaN. {_REMEDY}")
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _connected(graph: Any, measure: Measure, who: str) -> tuple[Any, int]:
    """The graph with the shortest edge between each two of its components, which is reported."""
    from scipy.sparse import coo_array, csgraph, csr_array

    n = graph.shape[0]
    count, label = csgraph.connected_components(graph, directed=False)
    if count == 1:
        return graph, 1
    warn(
        f"{who}: the number of connected components of the connectivity matrix is {count} > 1. "
        "Completing it to avoid stopping the tree early: the nearest rows of each two components "
        "are joined. Use more neighbours.",
        UserWarning,
    )
    require_memory(
        24 * count * count,
        f"{who}: the array of edges between {count} components",
        "Use a connectivity with fewer components.",
    )
    members = [np.flatnonzero(label == part) for part in range(count)]
    ends: list[tuple[int, int]] = []
    for a in range(count):
        for b in range(a):
            ends.append(_nearest_pair(measure, members[a], members[b]))
    i, j = np.array(ends).T
    extra = coo_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    joined = csr_array(graph.astype(float) + extra)
    joined.sort_indices()
    return joined, int(count)


def _nearest_pair(measure: Measure, first: Array, second: Array) -> tuple[int, int]:
    best, pair = np.inf, (int(first[0]), int(second[0]))
    step = max(1, PAIRS_AT_ONCE // len(second))
    for start in range(0, len(first), step):
        block = measure.between(first[start : start + step], second)
        i, j = np.unravel_index(int(np.argmin(block)), block.shape)
        if block[i, j] < best:
            best, pair = float(block[i, j]), (int(first[start + i]), int(second[j]))
    return pair
