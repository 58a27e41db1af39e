"""Neighbours from all distances, which come in blocks of queries × rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.neighbors.search.found import Nearest, Room, Within

Pairs = Iterator[tuple[int, Array]]
"""Blocks of distances, each with the number of its first query."""


def nearest_of_pairs(pairs: Pairs, n_queries: int, k: int, own: bool) -> Nearest:
    """The k nearest rows of every query; `own` if queries are the rows of given distances."""
    found = Nearest.empty(n_queries, k)
    for start, block in pairs:
        some = slice(start, start + block.shape[0])
        if own and block.diagonal(start).any():
            block = block.copy()
            np.fill_diagonal(block[:, some], 0.0)  # every row is its own nearest row
        _native.smallest_per_row(block, found.distance[some], found.row[some], n_threads())
    return found


def within_of_pairs(pairs: Pairs, radii: Array, by_distance: bool, room: Room) -> Within:
    """All rows within the radii, in the order of their distances or of their numbers."""
    parts = []
    for start, block in pairs:
        near = block <= radii[start : start + block.shape[0], None]
        query, row = np.nonzero(near)
        room.take(row.shape[0])
        distance = block[near]
        if by_distance:
            order = np.lexsort((row, distance, query))
            row, distance = row[order], distance[order]
        parts.append((np.count_nonzero(near, axis=1), row, distance))
    return Within.joined(parts)
