"""Clusters of core rows, which have enough weight within a radius, and of the rows around them.

==============  ==============================================================================
kd-tree         dense rows, distances that are sums or maxima over columns: compiled, O(n) memory
neighbour lists other distances, and many columns by matrix products: blocks of rows, one by one
==============  ==============================================================================

Both give the same clusters. A search of the tree ends when a row has enough neighbours or its
cluster is known, so that large radii suit the tree however many columns there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2, sqrt

import numpy as np

from thetahat import _native
from thetahat.data.source import kernel_weights
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.given_graph import require_graph
from thetahat.models.neighbors.search.index import NeighborIndex

WORK_AT_ONCE = 1 << 30
"""Pairs of rows times columns that one compiled call may measure, between two interrupts."""
PAIRS_AT_ONCE = 1 << 23
PAIRS_KEPT = 1 << 25
"""Pairs of neighbours that are kept in memory; if there are more, they are found a second time."""

SAMPLE = 16, 512
"""Rows that are compared to learn how many pairs a radius holds."""

Pairs = tuple[Array, Array]


def suits_tree_at(rows: Array, distance: Distance, radius: float) -> bool:
    """Whether the kd-tree is faster than lists at this radius; as measured. Cost: O(d)."""
    n, d = rows.shape
    if d <= 0.75 * log2(n):
        return True
    if n < SAMPLE[1]:
        return False
    few, many = (rows[:: n // size][:size] for size in SAMPLE)
    share = float(np.mean(distance.pairwise(few, many) <= radius))
    return share >= min(d / (16.0 * sqrt(n)), 0.25)


def density_clusters(
    index: NeighborIndex, radius: float, least: float, weight: Array | None, who: str
) -> tuple[Array, Array]:
    """The cluster of every row, −1 for none, and which rows are core rows.

    Rows of positive weight with a weight of at least ``least`` within the radius are core rows.
    Clusters are numbered by their first core rows; rows between clusters belong to the one of the
    smaller number.
    """
    distance = index.distance
    by_tree = isinstance(distance, Termwise) and not is_sparse(index.rows)
    if by_tree and (index.algorithm == "kd_tree" or distance.order != 2):  # type: ignore[union-attr]
        return _by_tree(index, radius, least, weight, who)
    return _by_lists(index, radius, least, weight, who)


def _by_tree(
    index: NeighborIndex, radius: float, least: float, weight: Array | None, who: str
) -> tuple[Array, Array]:
    distance, (n, d) = index.distance, index.rows.shape
    assert isinstance(distance, Termwise)
    require_memory(
        8 * (3 * n * d + 8 * n),
        f"{who}: the search structure of {n} rows with {d} columns",
        "Use fewer rows.",
    )
    points = np.ascontiguousarray(distance.embedded(index.rows), dtype=np.float64)
    weights = kernel_weights(weight)
    order = distance.order
    clusters = _native.DensityClusters(
        points, weights, 1.0 if order is None else float(order), order is None,
        float(distance.to_reduced(radius, d)), float(least), int(index.leaf_size), n_threads(),
    )  # fmt: skip
    step = max(64, WORK_AT_ONCE // (n * points.shape[1] * index.leaf_size))
    while clusters.advance(step, n_threads()):
        pass
    labels, core = np.empty(n, dtype=np.int64), np.empty(n, dtype=bool)
    clusters.copy(labels, core)
    return labels, core


def _by_lists(
    index: NeighborIndex, radius: float, least: float, weight: Array | None, who: str
) -> tuple[Array, Array]:
    if index.distance is None:
        index = _with_diagonal(index, who)
    n = index.n_rows
    kept: list[Pairs] | None = []
    n_kept, found = 0, np.empty(n)
    for some, (query, row) in _neighbors(index, radius):
        counted = None if weight is None else weight[row]
        found[some] = np.bincount(query - some.start, counted, minlength=some.stop - some.start)
        n_kept += len(row)
        if n_kept > PAIRS_KEPT:
            kept = None
        if kept is not None:
            kept.append((query, row))
    core = found >= least if weight is None else (found >= least) & (weight > 0)
    root, border = np.arange(n), np.full(n, n)
    again = kept if kept is not None else (pairs for _, pairs in _neighbors(index, radius))
    edges = []
    for query, row in again:
        from_core, to_core = core[query], core[row]
        both, one = from_core & to_core, from_core & ~to_core
        _native.join_pairs(query[both], row[both], root)
        edges.append((query[one], row[one]))
    first, number = np.unique(root[core], return_inverse=True)
    labels = np.full(n, -1, dtype=np.int64)
    labels[core] = number.ravel()
    for query, row in edges:
        np.minimum.at(border, row, labels[query])
    reached = border < n
    labels[reached] = border[reached]
    assert len(first) <= n
    return labels, core


def _neighbors(index: NeighborIndex, radius: float) -> Iterator[tuple[slice, Pairs]]:
    """All pairs of rows within the radius, in blocks of rows."""
    n = index.n_rows
    step = max(1, PAIRS_AT_ONCE // n)
    for start in range(0, n, step):
        some = slice(start, min(start + step, n))
        found = index.within(index.rows[some], radius, False)
        yield some, (np.repeat(np.arange(some.start, some.stop), found.counts), found.row)


def _with_diagonal(index: NeighborIndex, who: str) -> NeighborIndex:
    """Given distances, of which those of rows from themselves are stored."""
    rows: Matrix = index.rows
    if not is_sparse(rows):
        least = rows.min()
        if least < 0:
            at = np.argwhere(rows < 0)[0].tolist()
            raise DataError(
                f"{who}: Negative values in data passed to precomputed distance matrix (first at "
                f"row {at[0]}, column {at[1]}: {least:g}). Distances must be ≥ 0."
            )
        return index
    require_graph(rows, who)
    import scipy.sparse

    # Sums of sparse arrays drop stored zeros, so that entries are appended by hand.
    rows = rows.tocoo()
    apart = rows.row != rows.col
    on_diagonal = np.zeros(rows.shape[0])
    on_diagonal[rows.row[~apart]] = rows.data[~apart]
    each = np.arange(rows.shape[0])
    values = np.concatenate([rows.data[apart], on_diagonal])
    places = np.concatenate([rows.row[apart], each]), np.concatenate([rows.col[apart], each])
    whole = scipy.sparse.csr_array((values, places), shape=rows.shape)
    return NeighborIndex(whole, None, "brute", index.leaf_size)
