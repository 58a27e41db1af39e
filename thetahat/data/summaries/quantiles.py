"""Quantiles of every column from one pass over the rows, as a mergeable summary.

A column is stored as its distinct values with their weights, exactly as long as there are at most
`CAPACITY` of them. After that, two buffers of one level are merged into one of the next level that
keeps the values in the middle of `CAPACITY` equal shares of the weight. After m blocks no value
has been thinned more than log₂ m times, so the level of a quantile is off by at most
log₂(m)/(2·CAPACITY). Missing values are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from thetahat.data.source import Block
from thetahat.foundation.types import Array

CAPACITY = 1 << 14


class Weighted(NamedTuple):
    """Distinct values in ascending order, and the total weight of each."""

    values: Array
    weights: Array


EMPTY = Weighted(np.empty(0), np.empty(0))


@dataclass(frozen=True)
class QuantileSummary:
    """The values of each column, exactly or by representatives."""

    columns: tuple[tuple[Weighted, ...], ...]
    """For each column its buffers; those of level k have been thinned k times."""

    @classmethod
    def of(cls, block: Block) -> QuantileSummary:
        """The summary of a block. Cost: O(n·d log n)."""
        X = np.asarray(block.X)
        return cls(
            tuple((distinct(X[:, j], block.weight),) if len(X) else () for j in range(X.shape[1]))
        )

    def merge(self, other: QuantileSummary) -> QuantileSummary:
        """The summary of the rows of both."""
        return QuantileSummary(
            tuple(_carried(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        )

    def column(self, j: int) -> Weighted:
        """All stored values of a column."""
        return _together(*self.columns[j])


def distinct(values: Array, weight: Array | None = None) -> Weighted:
    """The distinct values in order, without missing ones, each with the weight of its rows."""
    present = ~np.isnan(values)
    if weight is not None:
        present &= weight > 0
    values = values[present].astype(np.float64)
    if weight is None:
        found, counts = np.unique(values, return_counts=True)
        return Weighted(found, counts.astype(np.float64))
    return _together(Weighted(values, weight[present].astype(np.float64)))


def _together(*parts: Weighted) -> Weighted:
    """The distinct values of all parts."""
    values = np.concatenate([EMPTY.values, *(part.values for part in parts)])
    weights = np.concatenate([EMPTY.weights, *(part.weights for part in parts)])
    if values.size == 0:
        return EMPTY
    order = np.argsort(values, kind="stable")
    values = values[order]
    first = np.flatnonzero(np.concatenate([[True], values[1:] > values[:-1]]))
    return Weighted(values[first], np.add.reduceat(weights[order], first))


def _carried(a: tuple[Weighted, ...], b: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
    """The buffers of both, at most one per level, combined like the digits of binary numbers."""
    levels: list[Weighted] = []
    carry = EMPTY
    for ours, theirs in zip_longest(a, b, fillvalue=EMPTY):
        buffer = _together(ours, theirs, carry)
        carry = EMPTY
        if buffer.values.size > CAPACITY:
            buffer, carry = EMPTY, _thinned(buffer)
        levels.append(buffer)
    return (*levels, carry) if carry.values.size else tuple(levels)


def _thinned(buffer: Weighted) -> Weighted:
    """The values in the middle of `CAPACITY` equal shares of the weight."""
    below = np.cumsum(buffer.weights)
    levels = (np.arange(CAPACITY) + 0.5) / CAPACITY * below[-1]
    at = np.minimum(np.searchsorted(below, levels), buffer.values.size - 1)
    return _together(Weighted(buffer.values[at], np.full(CAPACITY, below[-1] / CAPACITY)))
