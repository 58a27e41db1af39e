"""What a search finds: the k nearest rows, or all rows within a radius, of every query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Nearest:
    """The k nearest rows of every query, nearest first; ties go to the smaller row number."""

    distance: Array
    """(n_queries, k), float64."""
    row: Array
    """(n_queries, k), int64."""

    @classmethod
    def empty(cls, n_queries: int, k: int) -> Nearest:
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
