"""Neighbours from a sparse matrix of given distances: only stored entries are neighbours.

A stored 0 is a distance of 0; an entry that is not stored belongs to no neighbour.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, SparseMatrix
from thetahat.models.neighbors.search.found import Nearest, Room, Within


def require_graph(graph: SparseMatrix, who: str) -> None:
    """Refuse negative distances."""
    if graph.nnz and graph.data.min() < 0:
        at = int(np.argmax(graph.data < 0))
        row = int(np.searchsorted(graph.indptr, at, side="right")) - 1
        raise DataError(
            f"{who}: Negative values in data passed to precomputed distance matrix. (first at row "
            f"{row}, column {graph.indices[at]}: {graph.data[at]:g}). Distances must be ≥ 0."
        )


def nearest_in_graph(graph: SparseMatrix, k: int) -> Nearest:
    """The k smallest entries of every row; of two equal ones the smaller column comes first."""
    counts = np.diff(graph.indptr)
    if counts.size and counts.min() < k:
        row = int(np.argmin(counts))
        raise DataError(
            f"{k} neighbors per samples are required, but some samples have only "
            f"{counts[row]} neighbors in precomputed graph matrix (row {row}). Decrease number of "
            "neighbors used or recompute the graph with more neighbors."
        )
    order = _by_distance(graph, np.repeat(np.arange(len(counts)), counts))
    at = order[graph.indptr[:-1, None] + np.arange(k)]
    return Nearest(graph.data[at].astype(np.float64), graph.indices[at].astype(np.int64))


def within_in_graph(graph: SparseMatrix, radii: Array, by_distance: bool, room: Room) -> Within:
    """All entries of every row up to its radius, by column or by distance."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = _by_distance(graph, rows) if by_distance else np.lexsort((graph.indices, rows))
    order = order[graph.data[order] <= radii[rows[order]]]
    room.take(len(order))
    return Within(
        np.bincount(rows[order], minlength=graph.shape[0]).astype(np.int64),
        graph.indices[order].astype(np.int64),
        graph.data[order].astype(np.float64),
    )


def _by_distance(graph: SparseMatrix, rows: Array) -> Array:
    """The order of the entries by (row, distance, column)."""
    if len(rows) < 2:
        return np.arange(len(rows))
    same_row, step = rows[1:] == rows[:-1], np.diff(graph.data)
    sorted_already = (step > 0) | ((step == 0) & (np.diff(graph.indices) > 0)) | ~same_row
    if sorted_already.all():
        return np.arange(len(rows))
    return np.lexsort((graph.indices, graph.data, rows))
