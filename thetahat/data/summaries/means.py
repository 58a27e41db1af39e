"""Weighted means of the columns as a mergeable summary, and the number of rows that count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.arrays import sparse_pullback
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import as_columns
from thetahat.foundation.products import product
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Means:
    """Σw and the weighted means of the columns of [X, y], in O(d) memory."""

    weight: float
    mean: Array

    def merge(self, other: Means) -> Means:
        """The means of both sets of rows."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        return Means(weight, self.mean + (other.mean - self.mean) * share)


def means(source: Source) -> Means:
    """The column means of [X, y] over all rows of a source."""
    return source.reduce(_summarise_means)


def count_used_rows(source: Source) -> int:
    """Number of rows of positive weight."""
    if not source.has_weight:
        return source.n_rows
    return sum(source.map_blocks(_count_used))


def _count_used(block: Block) -> int:
    return int(np.count_nonzero(np.asarray(block.row_weights) > 0))


def _summarise_means(block: Block) -> Means:
    weight = block.row_weights
    total = float(weight.sum())
    share = weight / total if total > 0 else weight
    y = np.empty((block.n_rows, 0)) if block.y is None else as_columns(block.y)
    of_x = sparse_pullback(block.X, share)
    of_x = product(block.X.T, share) if of_x is None else of_x
    return Means(total, np.concatenate([of_x, product(y.T, share)]))
