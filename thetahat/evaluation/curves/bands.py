"""Confidence bounds of the true positive rate at a given false positive rate.

Let x be the share of negatives whose score truly lies above a threshold c. Of the n₀ negatives in
the sample, N ~ Binomial(n₀, x) lie above c, whatever the distribution of the scores; so N gives the
position of c among them. For each N, k of the n₁ positives lie above c, and their true share has
approximately the distribution Beta(k + ½, n₁ − k + ½). The mixture of these over N contains both
sources of uncertainty, and its quantiles are the bounds. With the two classes exchanged, the same
bounds hold for the false positive rate at a given recall.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

MOST_PLACES = 40
"""Largest number of positions of the threshold considered; more do not change the third digit."""
HALVINGS = 16
"""Number of bisection steps; bounds are found to 2⁻¹⁶ and rounded outwards."""


def pointwise_bounds(shares: Array, across: Array, up: Array, level: float) -> tuple[Array, Array]:
    """Bounds of one class's share above the threshold exceeded by `shares` of the other class.

    `across` and `up` count the other class and this one above every threshold, from none to all.
    """
    tail = (1 - level) / 2
    weights, places = _places(np.asarray(shares), round(float(across[-1])), tail / 50)
    first = np.r_[0, np.flatnonzero(np.diff(across)) + 1]
    last = np.r_[first[1:] - 1, across.size - 1]
    # The threshold lies between two negatives: at the bottom or at the top of a vertical step.
    feet, tops = (np.interp(places, across[ends], up[ends]) for ends in (first, last))
    count, weights = np.hstack([feet, tops]), np.hstack([weights, weights]) / 2
    every = float(up[-1])
    low = _quantile(weights, count, every, tail)
    high = 1 - _quantile(weights, every - count, every, tail)
    return low, high


def _places(shares: Array, n: int, rare: float) -> tuple[Array, Array]:
    """Probabilities and counts of how many of n rows lie above a threshold, for each share.

    The extreme counts, of total probability `rare` at either end, are replaced by the last count
    inside.
    """
    from scipy.special import bdtr
    from scipy.stats import binom

    least, most = binom.ppf(rare, n, shares), binom.isf(rare, n, shares)
    columns = int(min(MOST_PLACES, (most - least).max() + 1))
    steps = np.arange(1, columns) / columns
    edges = np.floor(least[:, None] + (most - least + 1)[:, None] * steps) - 1
    reached = bdtr(np.maximum(edges, 0), n, shares[:, None]) * (edges >= least[:, None])
    none, every = np.zeros((shares.size, 1)), np.ones((shares.size, 1))
    ends = np.hstack([least[:, None] - 1, edges, most[:, None]])
    weights = np.diff(np.hstack([none, reached, every]), axis=1)
    return weights, (ends[:, :-1] + 1 + ends[:, 1:]) / 2


def _quantile(weights: Array, count: Array, n: float, tail: float) -> Array:
    """The `tail` quantile of a mixture of Beta(count + ½, n − count + ½); 0 where count is 0."""
    from scipy.special import betainc

    low, high = np.zeros(len(weights)), np.ones(len(weights))
    below, needed = np.ones_like(count), (count > 0) & (weights > 0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        betainc(count + 0.5, n - count + 0.5, middle[:, None], out=below, where=needed)
        reached = (weights * below).sum(axis=1) >= tail
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return low
