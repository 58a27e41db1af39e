"""A Gaussian truncated to a box: its mass in the box, and draws from it.

With x = μ + L·y (L lower triangular, y standard normal), the coordinates are drawn one at a time:
given y₁ … yᵢ₋₁, coordinate i must lie in [aᵢ, bᵢ], so

    P(low ≤ x ≤ high) = E Π pᵢ,   pᵢ = Φ(bᵢ) − Φ(aᵢ),   yᵢ = Φ⁻¹(Φ(aᵢ) + uᵢ·pᵢ)

(Genz 1992). For a diagonal L the product is a constant, so the mass is exact; otherwise the mean is
taken over quasi-random points. A draw is accepted with probability Π pᵢ/p̄ᵢ, where p̄ᵢ is the largest
pᵢ of an interval of the same width; accepted draws follow the truncated Gaussian exactly.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from thetahat.foundation.types import Array

POINTS = 512
"""Number of quasi-random points for a mass; gives two to three correct digits."""
TOGETHER = 1 << 22
"""Maximum number of values in memory while masses are computed."""
MOST_ROUNDS = 1000
"""Maximum number of rounds of rejection; remaining draws are accepted without it."""


@cache
def _points(d: int) -> Array:
    from scipy.stats import qmc

    return qmc.Sobol(d, rng=np.random.default_rng(0)).random(POINTS)


def log_box_masses(means: Array, factors: Array, low: Array, high: Array) -> Array:
    """log P(lowₖ ≤ x ≤ highₖ) for x ~ N(meansₖ, factorsₖ·factorsₖᵀ), k = 1 … m; all are (m, d).

    Factors are (m, d, d), or (m, d) if they are diagonal.
    """
    n, d = means.shape
    if factors.ndim == 2 or d == 1:
        deviation = factors.reshape(n, d)
        a, b, _ = _mirrored((low - means) / deviation, (high - means) / deviation)
        with np.errstate(divide="ignore"):
            return np.log(_interval(a, b)[1]).sum(axis=1)
    points, logs = _points(d), np.empty(n)
    step = max(1, TOGETHER // points.size)
    for start in range(0, n, step):
        some = slice(start, start + step)
        _, parts = _conditioned(points, means[some], factors[some], low[some], high[some])
        largest = parts.max(axis=1)
        with np.errstate(invalid="ignore"):
            share = np.exp(parts - largest[:, None]).mean(axis=1)
        logs[some] = np.where(largest == -np.inf, -np.inf, largest + np.log(share))
    return logs


def draw_in_box(
    n: int, mean: Array, factor: Array, low: Array, high: Array, rng: np.random.Generator
) -> Array:
    """n independent draws of x ~ N(mean, factor·factorᵀ) given low ≤ x ≤ high, (n, d)."""
    half = (high - low) / (2.0 * np.diag(factor))
    most = np.log(_interval(-half, half)[1]).sum()
    kept: list[Array] = []
    missing = n
    for _ in range(MOST_ROUNDS):
        u = rng.random((max(16, 2 * missing), mean.shape[0]))
        y, logs = _conditioned(u, mean, factor, low, high)
        accepted = y[np.log(rng.random(y.shape[0])) < logs - most]
        kept.append(accepted[:missing])
        missing -= kept[-1].shape[0]
        if missing == 0:
            break
    else:
        # The cell hardly overlaps its Gaussian; accept the last draws without correction.
        kept.append(y[:missing])
    x = mean + np.concatenate(kept) @ factor.T
    return np.clip(x, low, high)


def _conditioned(
    u: Array, mean: Array, factor: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """y (…, m, d), drawn coordinate by coordinate inside the box, and Σ log pᵢ for each draw.

    u is (m, d); the Gaussian and its box are one, or a stack of them with a leading axis.
    """
    from scipy.special import ndtri

    y = np.zeros((*mean.shape[:-1], *u.shape))
    logs = np.zeros(y.shape[:-1])
    for i in range(u.shape[1]):
        known = mean[..., i, None] + np.einsum("...mj,...j->...m", y[..., :i], factor[..., i, :i])
        deviation = factor[..., i, i, None]
        a, b, flipped = _mirrored(
            (low[..., i, None] - known) / deviation, (high[..., i, None] - known) / deviation
        )
        below, inside = _interval(a, b)
        with np.errstate(divide="ignore"):
            logs += np.log(inside)
        place = np.where(flipped, 1.0 - u[:, i], u[:, i])
        # Where the interval has no mass in float64, use the end nearest to the mean.
        drawn = np.clip(np.where(inside > 0, ndtri(below + place * inside), 0.0), a, b)
        y[..., i] = np.where(flipped, -drawn, drawn)
    return y, logs


def _mirrored(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The interval, mirrored if it lies above the mean, where 1 − Φ would lose digits."""
    flipped = a > 0
    return np.where(flipped, -b, a), np.where(flipped, -a, b), flipped


def _interval(a: Array, b: Array) -> tuple[Array, Array]:
    """Φ(a) and Φ(b) − Φ(a)."""
    from scipy.special import ndtr

    below = ndtr(a)
    return below, ndtr(b) - below
