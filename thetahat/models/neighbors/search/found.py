"""What a search finds: the k nearest rows, or all rows within a radius, of every query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.errors import MemoryBudgetError
from thetahat.foundation.memory import memory_for, readable, require_memory
from thetahat.foundation.types import Array

BYTES_PER_NEAREST = 32
"""Row number and distance, and the same again while distances are converted."""
BYTES_PER_WITHIN = 48
"""As above, and the lists of single queries before they are joined."""


@dataclass(frozen=True)
class Nearest:
    """The k nearest rows of every query, nearest first; ties go to the smaller row number."""

    distance: Array
    """(n_queries, k), float64."""
    row: Array
    """(n_queries, k), int64."""

    @classmethod
    def empty(cls, n_queries: int, k: int) -> Nearest:
        require_memory(
            BYTES_PER_NEAREST * n_queries * k,
            f"Nearest neighbours: the {k} nearest rows of {n_queries} rows",
            "Use fewer rows at a time, or fewer neighbours.",
        )
        return cls(np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64))


@dataclass(frozen=True)
class Within:
    """All rows within a radius of every query: those of query i are one range of the arrays."""

    counts: Array
    """(n_queries,), int64."""
    row: Array
    distance: Array

    @property
    def offsets(self) -> Array:
        """Where the range of each query begins, and the end of the last: (n_queries + 1,)."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts)])

    @classmethod
    def joined(cls, parts: Sequence[tuple[Array, Array, Array]]) -> Within:
        """The neighbours of several groups of queries, in their order."""
        if len(parts) == 1:
            return cls(*parts[0])
        counts, row, distance = (np.concatenate(each) for each in zip(*parts, strict=True))
        return cls(counts, row, distance)


class Room:
    """How many neighbours within a radius may still be found, by the memory that is free."""

    def __init__(self, n_queries: int, n_rows: int) -> None:
        self.n_queries = n_queries
        self.bytes = memory_for(BYTES_PER_WITHIN * n_queries * n_rows)
        self.left = self.bytes // BYTES_PER_WITHIN

    def take(self, count: int) -> None:
        """Note neighbours that were found, or refuse them if they are too many."""
        self.left -= count
        if self.left < 0:
            raise self.exceeded()

    def exceeded(self) -> MemoryBudgetError:
        return MemoryBudgetError(
            f"Nearest neighbours: all rows within the radius of {self.n_queries} rows need more "
            f"than {readable(self.bytes)}, which may not be used. Use a smaller radius, or fewer "
            "rows at a time."
        )
