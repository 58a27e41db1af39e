"""One-dimensional densities of a column: histograms with equal bins, and bandwidths of kernels.

Histogram: p(x) = (N_b + α) / ((N + α·(B + 2))·h) in bin b of width h. With α > 0 two more bins
without rows lie outside; each spreads its share over an exponential tail of scale h, so that the
density is positive everywhere and integrates to 1. With α = 0 it is N_b/(N·h), and 0 outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.quantiles import QuantileSummary, Weighted
from thetahat.foundation.types import Array
from thetahat.mathematics.binning.widths import freedman_diaconis, scott
from thetahat.mathematics.smoothing import Gaussian
from thetahat.mathematics.smoothing.base import SmoothingKernel

MOST_BINS = 10_000
"""Largest number of bins that a rule chooses."""
RULES = {"freedman_diaconis": freedman_diaconis, "scott": scott}
"""The rules for the width of the bins."""


@dataclass(frozen=True)
class ColumnSpread:
    """The quantiles and the range of columns, as a mergeable summary; NaN is left out."""

    quantiles: QuantileSummary
    low: Array
    high: Array

    @classmethod
    def of(cls, block: Block, places: Array) -> ColumnSpread:
        """The spread of some columns of a block; rows of weight 0 are not counted."""
        X = np.asarray(block.X)[:, places]
        weight = block.weight
        if weight is not None:
            X, weight = X[weight > 0], weight[weight > 0]
        low = np.fmin.reduce(X, axis=0, initial=np.inf)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf)
        return cls(QuantileSummary.of(Block(X=X, weight=weight)), low, high)

    def merge(self, other: ColumnSpread) -> ColumnSpread:
        """The spread of both sets of rows."""
        return ColumnSpread(
            self.quantiles.merge(other.quantiles),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def column_spread(source: Source, places: Array) -> ColumnSpread:
    """The spread of some columns over all rows. Cost: O(n log n) per column."""
    return source.reduce(ColumnSpread.of, places)


def equal_bins(values: Weighted, low: float, high: float, rule: str | int) -> tuple[float, int]:
    """Width and number of equal bins from `low` to `high`, by a rule or a given number.

    A column of equal numbers has one bin of width 1 around them.
    """
    span = high - low
    if not span > 0:
        return 1.0, 1
    if not isinstance(rule, str):
        return span / rule, rule
    width = RULES[rule](values.values, values.weights) if len(values.values) > 1 else span
    count = ceil(min(span / width, MOST_BINS))
    return span / count, count


def deviation(values: Weighted) -> float:
    """The standard deviation, in units of the largest distance, so that squares stay in range."""
    gap = values.values - values.values[0]  # in ascending order, so that the last is the largest
    if not gap[-1] > 0:
        return 0.0
    share = gap / gap[-1]
    centre = np.average(share, weights=values.weights)
    return float(gap[-1] * np.sqrt(np.average((share - centre) ** 2, weights=values.weights)))


def log_histogram(counts: Array, width: float, alpha: float) -> Array:
    """Log-densities of the bins and of both tails at their start, (C, B + 2), from counts (C, B).

    A class without rows has the same density in all bins.
    """
    total = counts.sum(axis=1, keepdims=True)
    counts = np.where(total > 0, counts, 1.0)
    padded = np.pad(counts, ((0, 0), (0, 2))) + alpha
    with np.errstate(divide="ignore"):
        return np.log(padded) - np.log(padded.sum(axis=1, keepdims=True)) - np.log(width)


def kernel_bandwidth(values: Weighted, rule: str | float, kernel: SmoothingKernel) -> float:
    """The bandwidth of a kernel estimate: a number, or σ·n^{−1/5} times a factor; 0 if σ is 0.

    "scott" has the factor 1 and "silverman" (4/3)^{1/5}, both for the Gaussian kernel; for another
    kernel the bandwidth is multiplied by the ratio of the canonical bandwidths.
    """
    if not isinstance(rule, str):
        return float(rule)
    n = float(values.weights.sum())
    if n <= 0:
        return 0.0
    spread = deviation(values)
    factor = 1.0 if rule == "scott" else (4 / 3) ** 0.2
    ratio = kernel.canonical_bandwidth() / Gaussian().canonical_bandwidth()
    return spread * factor * ratio * n**-0.2
