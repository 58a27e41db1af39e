"""Rows that occur many times: a graph links the distinct rows, and results name all copies.

Links of a row with many copies would lead to its copies alone, and walks would not leave them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.neighbors.search.found import Nearest


@dataclass(frozen=True)
class Copies:
    """Which rows are equal. Distinct rows are numbered by their first copy."""

    first: Array
    """The first copy of every distinct row, (n_distinct,), increasing."""
    ordered: Array
    """All rows: the copies of each distinct row together, by row number, (n,)."""
    starts: Array
    """Where the copies of each distinct row begin in `ordered`, (n_distinct + 1,)."""

    @classmethod
    def of(cls, points: Array) -> Copies:
        """Find equal rows by hashes, which are then verified. Cost: O(n d + n log n)."""
        n = points.shape[0]
        codes = _hashes(points)
        _, first, group = np.unique(codes, return_index=True, return_inverse=True)
        if not (points == points[first[group.ravel()]]).all():  # two rows with one hash
            _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        rank = np.empty_like(by_first)
        rank[by_first] = np.arange(len(first))
        group = rank[group.ravel()]
        starts = np.append(0, np.cumsum(np.bincount(group, minlength=len(first))))
        assert starts[-1] == n
        return cls(first[by_first], np.argsort(group, kind="stable"), starts)

    @property
    def counts(self) -> Array:
        """Number of copies of every distinct row."""
        return np.diff(self.starts)

    def expanded(self, found: Nearest, k: int) -> Nearest:
        """The k nearest rows, from as many of the nearest distinct rows of every query."""
        distance, row = found.distance, self.first[found.row]
        many = self.counts[found.row]
        for query in np.flatnonzero((many > 1).any(axis=1)).tolist():
            groups = found.row[query]
            begins, ends = self.starts[groups], self.starts[groups + 1]
            parts = [
                self.ordered[begin : min(end, begin + k)]
                for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
            rows = np.concatenate(parts)
            far = np.repeat(distance[query], [len(part) for part in parts])
            nearest = np.lexsort((rows, far))[:k]
            distance[query], row[query] = far[nearest], rows[nearest]
        return Nearest(distance, row)


def _hashes(points: Array) -> Array:
    """A number of each row that equal rows share: Σ_j bits(x_j)·a_j mod 2⁶⁴ with odd a_j."""
    random = np.random.default_rng(0)
    drawn: Array = np.asarray(random.integers(0, 2**63, points.shape[1], dtype=np.uint64))
    found = np.zeros(points.shape[0], dtype=np.uint64)
    for column, factor in enumerate(2 * drawn + 1):
        # Adding 0 makes −0 and 0 one number; the high bits are mixed into the low ones.
        bits = (points[:, column].astype(np.float64) + 0.0).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(29))) * factor
        found += bits ^ (bits >> np.uint64(32))
    return found
