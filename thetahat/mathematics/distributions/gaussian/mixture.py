"""Quantiles of a mixture of normal distributions, one mixture per row."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from thetahat.foundation.types import Array


def mixture_quantile(level: float, weights: Array, means: Array, deviations: Array) -> Array:
    """q with Σ wₘ Φ((q − μₘ)/σₘ) = level; means and deviations of shape (M, n).

    The quantile of the mixture lies between those of its components, so bisection finds it; 60
    steps give full precision. Cost: O(60·M·n).
    """
    used = weights > 0
    weights, means, deviations = weights[used], means[used], np.maximum(deviations[used], 1e-300)
    parts = means + ndtri(level) * deviations
    low, high = parts.min(axis=0), parts.max(axis=0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = weights @ ndtr((middle - means) / deviations) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
