"""Confidence intervals of counts and rates whose coverage stays near the level.

The mid-P interval contains the parameters for which P(X > x) + P(X = x)/2 and P(X < x) + P(X = x)/2
are both at least (1 − level)/2. For small counts its coverage is much closer to the level than that
of estimate ± 1.96 standard errors, and it is less wasteful than the interval with the whole of
P(X = x), which never covers too rarely. Incomplete Beta and Gamma functions give the probabilities,
also for counts that are sums of weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)

from thetahat.foundation.types import Array

MOST_STEPS = 60
ACCURACY = 1e-13
"""Largest error of the probability beyond an end."""


def share_intervals(counts: Array, n: float, level: float) -> Array:
    """The mid-P intervals of p for counts of Binomial(n, p), (K, 2)."""
    tail = (1 - level) / 2
    x = np.minimum(np.asarray(counts, dtype=np.float64), n)
    some, rest = np.maximum(x, TINY), np.maximum(n - x, TINY)  # at the ends the answer is known

    def above(p: Array) -> Array:  # P(X > x) + P(X = x)/2, increasing in p
        more = np.where(x < n, betainc(x + 1, rest, p), 0.0)
        return (betainc(some, n - x + 1, p) + more) / 2

    def below(p: Array) -> Array:  # P(X < x) + P(X = x)/2, decreasing in p
        less = np.where(x > 0, betaincc(some, n - x + 1, p), 0.0)
        return (less + betaincc(x + 1, rest, p)) / 2

    # Both probabilities of `above` are equal to the tail at ends that have a formula.
    narrow = np.where(x < n, betaincinv(x + 1, rest, tail), 1.0)
    low = _crossing(lambda p: above(p) - tail, betaincinv(some, n - x + 1, tail), narrow)
    narrow = np.where(x > 0, betainccinv(some, n - x + 1, tail), 0.0)
    high = _crossing(lambda p: tail - below(p), narrow, betainccinv(x + 1, rest, tail))
    return np.stack([np.where(x > 0, low, 0.0), np.where(x < n, high, 1.0)], axis=1)


def rate_intervals(count: float, n: float, level: float) -> Array:
    """The mid-P interval of λ for a count of Poisson(n·λ), (1, 2)."""
    tail = (1 - level) / 2
    x = np.array([count], dtype=np.float64)
    some = np.maximum(x, TINY)

    def above(mean: Array) -> Array:
        return (gammainc(some, mean) + gammainc(x + 1, mean)) / 2

    def below(mean: Array) -> Array:
        less = np.where(x > 0, gammaincc(some, mean), 0.0)
        return (less + gammaincc(x + 1, mean)) / 2

    low = _crossing(lambda m: above(m) - tail, gammaincinv(some, tail), gammaincinv(x + 1, tail))
    narrow = np.where(x > 0, gammainccinv(some, tail), 0.0)
    high = _crossing(lambda m: tail - below(m), narrow, gammainccinv(x + 1, tail))
    return np.stack([np.where(x > 0, low, 0.0), high], axis=1) / n


TINY = 1e-300


def _crossing(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """The zeros of an increasing function between brackets, by false position (Illinois rule)."""
    at_low, at_high = function(low), function(high)
    last = np.zeros(low.shape)
    for _ in range(MOST_STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = at_low / (at_low - at_high)
        share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.5)
        middle = low + (high - low) * share
        found = function(middle)
        if (np.abs(found) <= ACCURACY).all():
            break
        right = found < 0
        # An end that stays twice counts half, so that both ends move.
        at_high = np.where(right, np.where(last > 0, at_high / 2, at_high), found)
        at_low = np.where(right, found, np.where(last < 0, at_low / 2, at_low))
        low, high = np.where(right, middle, low), np.where(right, high, middle)
        last = np.where(right, 1.0, -1.0)
    return middle
