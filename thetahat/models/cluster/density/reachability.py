"""The hierarchy of mutual reachability: max(c_i, c_j, d(x_i, x_j)/α), joined by single linkage.

c_i is the distance of row i from its nearest rows of a given number, itself included.
"""

from __future__ import annotations

from math import inf, log2
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.mathematics.distances.base import Termwise
from thetahat.models.cluster.hierarchy.connectivity import shortest_tree
from thetahat.models.cluster.hierarchy.dissimilarities import triangle_of
from thetahat.models.cluster.hierarchy.merging import numbered
from thetahat.models.neighbors.search.given_graph import require_graph
from thetahat.models.neighbors.search.index import NeighborIndex

_LANES = 4
_REMEDY = "Use a distance of th.distances such as 'euclidean', or fewer rows."


def reachability_merges(
    index: NeighborIndex, k: int, alpha: float, metric: Any, who: str
) -> tuple[Array, Array]:
    """Pairs of clusters and their heights in ascending order, numbered as SciPy does."""
    rows, distance = index.rows, index.distance
    if isinstance(distance, Termwise) and not is_sparse(rows):
        return _by_rows(index, distance, k, alpha)
    dense = index._dense(rows)
    core = index.nearest(None, k).distance[:, -1]
    return _by_triangle(triangle_of(dense, distance, metric, who, _REMEDY), core, alpha)


def given_merges(given: Matrix, k: int, alpha: float, who: str) -> tuple[Array, Array]:
    """The same from given distances; of sparse ones only those that are stored."""
    if is_sparse(given):
        return numbered(*_tree_of_graph(given, k, alpha, who))
    triangle = triangle_of(given, None, None, who, _REMEDY)
    core = np.partition(given, k - 1, axis=1)[:, k - 1].astype(np.float64)
    children, heights = _by_triangle(triangle, core, alpha)
    if np.isinf(heights).any():
        warn(
            f"{who}: The minimum spanning tree contains edge weights with value infinity. "
            "Potentially, you are missing too many distances in the initial distance matrix for "
            "the given neighborhood size. Pass more distances, or use smaller min_samples."
        )
    return children, heights


def _by_triangle(triangle: Array, core: Array, alpha: float) -> tuple[Array, Array]:
    edges = _empty(len(core))
    _native.spanning_tree_given(triangle, np.ascontiguousarray(alpha * core), *edges)
    children, heights = numbered(*edges)
    return children, heights / alpha


def _empty(n: int) -> tuple[Array, Array, Array]:
    return np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)


def _by_rows(index: NeighborIndex, distance: Termwise, k: int, alpha: float) -> tuple[Array, Array]:
    points = np.ascontiguousarray(distance.embedded(index.rows), dtype=np.float64)
    (n, d), n_columns = points.shape, index.rows.shape[1]
    found, order, edges = index.nearest(None, k), distance.order, _empty(n)
    if alpha == 1.0:  # the same bits as the lengths of edges, so that ties stay ties
        core = _reduced_pairs(points, points[found.row[:, -1]], order)
    else:
        far = alpha * found.distance[:, -1]
        core = np.array([distance.to_reduced(each, n_columns) for each in far.tolist()])
    power = 1.0 if order is None else float(order)
    if order is not None and n > 500 and d <= 0.75 * log2(n):
        _native.spanning_tree_near(points, power, core, *edges, n_threads())
    else:
        _native.spanning_tree_all(points, power, order is None, core, *edges, n_threads())
    children, reduced = numbered(*edges)
    heights = np.asarray(distance.from_reduced(reduced, n_columns))
    return children, heights if alpha == 1.0 else heights / alpha


def _reduced_pairs(A: Array, B: Array, order: float | None) -> Array:
    """The reduced distances of pairs of rows, in the order of sums of the compiled kernels."""
    parts = [np.zeros(len(A)) for _ in range(_LANES)]
    for column in range(A.shape[1]):
        gap = np.abs(A[:, column] - B[:, column])
        part = parts[column % _LANES]
        if order == inf:
            np.maximum(part, gap, out=part)
        elif order is None:
            part += gap != 0
        else:
            part += gap * gap if order == 2 else gap if order == 1 else gap**order
    if order == inf:
        return np.asarray(np.maximum.reduce(parts))
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


def _tree_of_graph(
    graph: SparseMatrix, k: int, alpha: float, who: str
) -> tuple[Array, Array, Array]:
    """The shortest tree along the stored distances of a sparse matrix."""
    require_graph(graph, who)
    n, counts = graph.shape[0], np.diff(graph.indptr)
    if counts.min() < k:
        row = int(np.argmin(counts))
        raise DataError(
            f"{who}: There exists points with fewer than {k} neighbors. Ensure your distance "
            f"matrix has non-zero values for at least `min_sample`={k} neighbors for each point; "
            f"row {row} has {counts[row]}. Pass more distances, or use smaller min_samples."
        )
    core = np.array([
        np.partition(graph.data[a:b], k - 1)[k - 1]
        for a, b in zip(graph.indptr[:-1].tolist(), graph.indptr[1:].tolist(), strict=True)
    ])  # fmt: skip
    left = np.repeat(np.arange(n), counts)
    right = graph.indices.astype(np.int64)
    length = np.maximum(np.maximum(core[left], core[right]), graph.data / alpha)
    chosen = shortest_tree(left, right, length, n)
    if len(chosen) < n - 1:
        raise DataError(
            f"{who}: Sparse distance matrix has {n - len(chosen)} connected components; HDBSCAN "
            "cannot be performed on a disconnected graph. Pass more distances."
        )
    return left[chosen], right[chosen], length[chosen]
