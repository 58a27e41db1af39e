"""The total weight of each value of y, as a mergeable summary.

Counts are sums of weights: merging is exact for whole weights, in any order and grouping.
Cost: O(n log n) time per block, and memory for the distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Counts:
    """Distinct values in ascending order, and the total weight of each."""

    values: Array
    weights: Array

    def merge(self, other: Counts) -> Counts:
        """The counts of both sets of rows."""
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        weights = np.concatenate([self.weights, other.weights])
        return Counts(values, np.bincount(places, weights=weights, minlength=len(values)))

    @property
    def shares(self) -> Array:
        """π = N_c / N, the share of each value."""
        return self.weights / self.weights.sum()


def counts(source: Source) -> Counts:
    """The counts of the targets over all rows of a source; values of weight 0 are not counted."""
    return source.reduce(_summarise)


def _summarise(block: Block) -> Counts:
    assert block.y is not None
    y = to_host(block.y)
    weight = to_host(block.row_weights)
    values, places = np.unique(y[weight > 0], return_inverse=True)
    return Counts(values, np.bincount(places, weights=weight[weight > 0], minlength=len(values)))


@dataclass(frozen=True)
class Distinct:
    """Distinct values in ascending order."""

    values: Array

    def merge(self, other: Distinct) -> Distinct:
        """The distinct values of both sets of rows."""
        return Distinct(np.union1d(self.values, other.values))


def distinct_labels(source: Source) -> Array:
    """The distinct targets over all rows of a source, rows of weight 0 included.

    They must be whole numbers: fractions are the targets of a regression, not labels.
    """
    return source.targets_only().reduce(_distinct).values


def _distinct(block: Block) -> Distinct:
    assert block.y is not None
    y = to_host(block.y)
    fractions = np.flatnonzero(y != np.floor(y)) if y.ndim == 1 else np.empty(0, dtype=np.intp)
    if fractions.size:
        row = int(fractions[0])
        raise DataError(
            f"Unknown label type: continuous. The target at row {block.start + row} is "
            f"{y[row]:g}, but a classifier needs labels: whole numbers, text or categories. Use a "
            "regressor for such a target, or convert it to classes first."
        )
    return Distinct(np.unique(y))
