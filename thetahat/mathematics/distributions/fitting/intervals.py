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
from scipy.special import betainc, betaincc, gammainc, gammaincc

from thetahat.foundation.types import Array

HALVINGS = 200


def share_interval(count: float, n: float, level: float) -> tuple[float, float]:
    """The mid-P interval of p for a count of Binomial(n, p)."""
    tail = (1 - level) / 2

    def above(p: float) -> float:  # P(X > count) + P(X = count)/2, increasing in p
        at_least = float(betainc(count, n - count + 1, p)) if count > 0 else 1.0
        more = float(betainc(count + 1, n - count, p)) if count < n else 0.0
        return (at_least + more) / 2

    def below(p: float) -> float:  # P(X < count) + P(X = count)/2, decreasing in p
        less = float(betaincc(count, n - count + 1, p)) if count > 0 else 0.0
        at_most = float(betaincc(count + 1, n - count, p)) if count < n else 1.0
        return (less + at_most) / 2

    low = _crossing(lambda p: above(p) < tail, 0.0, count / n) if count > 0 else 0.0
    high = _crossing(lambda p: below(p) >= tail, count / n, 1.0) if count < n else 1.0
    return low, high


def rate_interval(count: float, n: float, level: float) -> tuple[float, float]:
    """The mid-P interval of λ for a count of Poisson(n·λ)."""
    tail = (1 - level) / 2

    def above(mean: float) -> float:
        at_least = float(gammainc(count, mean)) if count > 0 else 1.0
        return (at_least + float(gammainc(count + 1, mean))) / 2

    def below(mean: float) -> float:
        less = float(gammaincc(count, mean)) if count > 0 else 0.0
        return (less + float(gammaincc(count + 1, mean))) / 2

    far = 2 * count + 10 - 10 * np.log(tail)
    low = _crossing(lambda m: above(m) < tail, 0.0, count) if count > 0 else 0.0
    high = _crossing(lambda m: below(m) >= tail, count, far)
    return low / n, high / n


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The point between `low`, where the condition holds, and `high`, where it does not."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return (low + high) / 2


def share_intervals(counts: Array, n: float, level: float) -> Array:
    """One mid-P interval for each count."""
    return np.array([share_interval(float(count), n, level) for count in counts])


def rate_intervals(count: float, n: float, level: float) -> Array:
    """The mid-P interval of one rate, (1, 2)."""
    return np.array([rate_interval(count, n, level)])
