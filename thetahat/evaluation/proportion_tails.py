"""Bounds of a proportion for error probabilities too small to be represented as a float.

Clopper-Pearson as long as the binomial tail can be computed, then Chernoff's bound of the tail,
P(share at least this far off) ≤ exp(−n·KL(observed, true)), whose logarithm does not underflow.
"""

from __future__ import annotations

from math import exp, inf, log

MOST_NATS = 600.0
"""e^−600 is 1e-260, where quantiles of the Beta distribution are still accurate."""
HALVINGS = 60


def bounds_of_share(least: int, most: int, n: int, nats: float) -> tuple[float, float]:
    """An interval of error probability at most e^−nats for a count from `least` to `most`."""
    from scipy.special import betainccinv, betaincinv

    if nats > MOST_NATS:
        below, above = (
            _chernoff(least / n, n, nats + log(2)),
            _chernoff(1 - most / n, n, nats + log(2)),
        )
        return below, 1 - above
    tail = exp(-nats) / 2
    low = float(betaincinv(least, n - least + 1, tail)) if least else 0.0
    high = float(betainccinv(most + 1, n - most, tail)) if most < n else 1.0
    return low, high


def _chernoff(share: float, n: int, nats: float) -> float:
    """The smallest p with n·KL(share, p) ≤ nats, rounded down."""
    low, high = 0.0, share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if n * _divergence(share, middle) <= nats:
            high = middle
        else:
            low = middle
    return low


def _divergence(q: float, p: float) -> float:
    """KL of Bernoulli(q) from Bernoulli(p), for p ≤ q."""
    if p <= 0:
        return inf if q > 0 else 0.0
    right = q * log(q / p) if q > 0 else 0.0
    return right + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0)
