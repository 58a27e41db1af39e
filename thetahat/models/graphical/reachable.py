"""Columns that can be reached from others along the edges of a graph."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


def reachable(linked: Array, start: Array, blocked: Array | None = None) -> Array:
    """Which columns are reached from the starting ones, without passing through blocked ones.

    `linked` is a symmetric Boolean matrix; all others are Boolean vectors. Cost: O(d) per column
    that is reached.
    """
    seen = start.copy()
    frontier = start
    while frontier.any():
        found = linked[frontier].any(axis=0) & ~seen
        if blocked is not None:
            found &= ~blocked
        seen |= found
        frontier = found
    return seen


def connected_components(linked: Array) -> list[Array]:
    """The columns of each connected component, in the order of their first columns."""
    left = np.ones(len(linked), dtype=bool)
    found = []
    while left.any():
        start = np.zeros(len(linked), dtype=bool)
        start[np.argmax(left)] = True
        part = reachable(linked, start)
        found.append(np.flatnonzero(part))
        left &= ~part
    return found
