"""Merges of hierarchical clustering: which algorithm serves a linkage, and its cost.

=========  =====================================================================================
single     a minimum spanning tree: by a kd-tree for few columns, else O(n² d); O(n) memory
ward       chains of nearest neighbours among the centres, in a kd-tree: O(n d) memory
complete   chains of nearest neighbours among all dissimilarities: n²/2 numbers
average    the same
=========  =====================================================================================
"""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.memory import memory_for
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Termwise
from thetahat.models.cluster.hierarchy.dissimilarities import distance_of, triangle_of
from thetahat.models.cluster.hierarchy.squared_distances import squared_distances

LINKAGES = {"single": 0, "complete": 1, "average": 2, "ward": 3}
WORK_AT_ONCE = 1 << 28
"""Pairs that are compared between two looks for an interrupt."""
LARGEST_TRIANGLE = 1 << 29
"""Bytes of dissimilarities that Ward's linkage takes to save time, where there are many columns."""
Chain = _native.LinkageChain | _native.WardChain | _native.Division
_NO_CORE = np.empty(0)
_REMEDY = (
    "Use linkage='ward' or 'single' with a distance of th.distances such as 'euclidean', which "
    "need memory in proportion to n; or fewer rows."
)


def merged(rows: Array, metric: Any, linkage: str, who: str) -> tuple[Array, Array]:
    """All merges: pairs of clusters, and their heights in ascending order."""
    if linkage == "ward":
        return _ward(rows)
    distance = distance_of(metric, rows, who)
    if linkage == "single" and isinstance(distance, Termwise):
        return _single(rows, distance)
    triangle = triangle_of(rows, distance, metric, who, _REMEDY)
    if linkage == "single":
        found = _empty(len(rows))
        _native.spanning_tree_given(triangle, _NO_CORE, *found)
        return numbered(*found)
    return chained(_native.LinkageChain(triangle, len(rows), LINKAGES[linkage]), len(rows))


def numbered(left: Array, right: Array, height: Array) -> tuple[Array, Array]:
    """Merges of rows in any order, by height and with the numbers of clusters."""
    children, heights = np.empty((len(left), 2), dtype=np.int64), np.empty(len(left))
    _native.number_merges(left, right, height, children, heights)
    return children, heights


def centred(rows: Array) -> Array:
    """The rows about their mean, in float64: centres of rows far from 0 keep their digits."""
    found = np.array(rows, dtype=np.float64, order="C")
    found -= found.mean(axis=0)
    return found


def _ward(rows: Array) -> tuple[Array, Array]:
    n, d = rows.shape
    points = centred(rows)
    n_bytes = 4 * n * n
    if (d > log2(n) and n_bytes <= min(LARGEST_TRIANGLE, memory_for(2 * n_bytes) // 2)) or n < 200:
        triangle = squared_distances(points)
        children, squares = chained(_native.LinkageChain(triangle, n, LINKAGES["ward"]), n)
        return children, np.sqrt(squares)
    return chained(_native.WardChain(points), n)


def _single(rows: Array, distance: Termwise) -> tuple[Array, Array]:
    points = np.ascontiguousarray(distance.embedded(rows), dtype=np.float64)
    n, d = points.shape
    found, order = _empty(n), distance.order
    if order is not None and n > 500 and d <= 0.75 * log2(n):
        _native.spanning_tree_near(points, float(order), _NO_CORE, *found, n_threads())
    else:
        power = 1.0 if order is None else float(order)
        _native.spanning_tree_all(points, power, order is None, _NO_CORE, *found, n_threads())
    children, reduced = numbered(*found)
    return children, np.asarray(distance.from_reduced(reduced, rows.shape[1]))


def chained(chain: Chain, n: int) -> tuple[Array, Array]:
    """The merges of a compiled algorithm, which an interrupt stops between two calls."""
    step = max(1, WORK_AT_ONCE // n)
    while chain.advance(step):
        pass
    found = _empty(n)
    chain.copy_merges(*found)
    return numbered(*found)


def _empty(n: int) -> tuple[Array, Array, Array]:
    return np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
