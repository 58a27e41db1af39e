"""How high a curve over thresholds may truly lie where a given share of the others is let in.

Let x of the negatives truly score above a threshold c. Of n₀ negatives at hand, N ~ Binomial(n₀, x)
do: that tells between which of them c lies, whatever the distribution of scores. For each N the
positives above c are counted, k of n₁, and their true share lies near Beta(k + ½, n₁ − k + ½).
The mixture of these over N carries both doubts, and its quantiles are the bounds. With the two
classes exchanged the same bounds tell the false alarms at a given recall.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

MOST_PLACES = 40
"""Places of the threshold among the others that are told apart; more change no third digit."""
HALVINGS = 16
"""Bounds are found to 2⁻¹⁶, and rounded outwards."""


def pointwise_bounds(shares: Array, across: Array, up: Array, level: float) -> tuple[Array, Array]:
    """Bounds of the share of one class above the threshold that lets in `shares` of the other.

    `across` and `up` count the other class and this one above every threshold, from none to all.
    """
    tail = (1 - level) / 2
    weights, places = _places(np.asarray(shares), round(float(across[-1])), tail / 50)
    first = np.r_[0, np.flatnonzero(np.diff(across)) + 1]
    last = np.r_[first[1:] - 1, across.size - 1]
    # The threshold lies between two of the others: at the foot or at the top of a vertical step.
    feet, tops = (np.interp(places, across[ends], up[ends]) for ends in (first, last))
    count, weights = np.hstack([feet, tops]), np.hstack([weights, weights]) / 2
    every = float(up[-1])
    low = _quantile(weights, count, every, tail)
    high = 1 - _quantile(weights, every - count, every, tail)
    return low, high


def _places(shares: Array, n: int, rare: float) -> tuple[Array, Array]:
    """How many of n lie above a threshold that lets in a share: probabilities, and the counts.

    Counts outside of all but `rare` of the probability are taken for the last inside.
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
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = betainc(count + 0.5, n - count + 0.5, middle[:, None])
        reached = (weights * np.where(count <= 0, 1.0, below)).sum(axis=1) >= tail
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return low
