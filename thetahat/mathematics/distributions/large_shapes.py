"""Gamma and Beta integrals and their integrands, accurate for shapes of any size.

The formulas with log Γ subtract numbers of the size of the shapes, so that nothing is left of a
density at shapes beyond 1e14, and the distribution functions of SciPy lose their tails from 1e5 on.
Here the large numbers cancel before they are computed (Loader 2000):

    log(y^k e^{−y}/Γ(k)) = ½log(k/2π) − μ(k) − D(k, y),
    log(p^a q^b/B(a, b)) = ½log(ab/(2πN)) + μ(N) − μ(a) − μ(b) − D(a, Np) − D(b, Nq), N = a + b,

with Binet's function μ, which is nearly 1/(12k), and the deviance D(x, m) = x·log(x/m) + m − x. The
distribution functions of large shapes are those of the normal distribution at w = ±√(2D), plus a
correction (Temme 1979; Lugannani and Rice 1980).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import (
    betainc,
    betaincc,
    betaincinv,
    betaln,
    digamma,
    gammainc,
    gammaincc,
    gammaincinv,
    gammaln,
    ndtr,
    ndtri,
    zeta,
)

from thetahat.foundation.types import Array

LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))
LARGE_GAMMA = 1e5
"""Shape from which the sums of SciPy end too early in the tails."""
LARGE_BETA = 1e9
"""Smaller shape from which the expansion has more digits than SciPy."""
HUGE_BETA = 1e30
"""Larger shape from which a Beta distribution whose other shape is not large is a Gamma one."""
SMALL_STEP = 0.02
MOST_STEPS = 100
FARTHEST = 700.0
"""Log-odds within which quantiles of Beta distributions are searched."""
NEGLIGIBLE = -40.0
"""Logarithm of a share that does not count beside 1."""
_TEMME = (
    (
        -1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 3.9192631785224378e-5,
        -2.1854485106799922e-6, -1.85406221071516e-6, 8.296711340953086e-7,
    ),
    (-1 / 540, -1 / 288, 25 / 12096, -9.9022633744855967e-4, 2.0576131687242798e-4),
    (25 / 6048, -139 / 51840),
)  # fmt: skip
_ODD_SERIES = (0.0, *(1 / (2 * j + 1) for j in range(1, 14)))


def binet(x: Any) -> Array:
    """μ(x) = log Γ(x) − (x − ½)log x + x − ½log 2π, which is nearly 1/(12x) for large x."""
    x = np.asarray(x, dtype=np.float64)
    large = x > 15
    safe = np.where(large, 1.0, x)
    direct = gammaln(safe) - (safe - 0.5) * np.log(safe) + safe - LOG_ROOT_2PI
    inverse = 1 / np.where(large, x, 15.0)
    square = inverse * inverse
    terms = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
    return np.where(large, inverse * np.polynomial.polynomial.polyval(square, terms), direct)


def deviance(x: Any, m: Any, gap: Any = None) -> Array:
    """D(x, m) = x·log(x/m) + m − x ≥ 0, without a difference of large numbers.

    `gap` is x − m, if it is known to more digits.
    """
    x, m = np.asarray(x, dtype=np.float64), np.asarray(m, dtype=np.float64)
    with np.errstate(all="ignore"):
        gap = x - m if gap is None else gap
        size = x / 2 + m / 2  # the sum itself may overflow
        near = np.abs(gap) < 0.2 * size
        logs = np.log(x) - np.log(m)
        found = np.where(x > m, x * (logs - 1) + m, m * (1 - x / m) + x * logs)
        found = np.where(x == 0, m, np.where(np.isinf(m), np.inf, found))
        if near.any():
            x, gap, size = (np.broadcast_to(each, near.shape)[near] for each in (x, gap, size))
            share = gap / 2 / size
            odd = np.polynomial.polynomial.polyval(share * share, _ODD_SERIES)
            found[near] = gap * share + x * (2 * share * odd)
    return found


def log_gamma_kernel(k: Any, y: Any) -> Array:
    """log(y^k e^{−y}/Γ(k)) for k > 0 and y ≥ 0."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(k) - LOG_ROOT_2PI - binet(k) - deviance(k, y)


def log_beta_kernel(a: Any, b: Any, p: Any, q: Any) -> Array:
    """log(p^a q^b/B(a, b)) for positive shapes and p + q = 1."""
    total = a + b
    return _largest_beta_kernel(a, b) - deviance(a, total * p) - deviance(b, total * q)


def _largest_beta_kernel(a: Any, b: Any) -> Array:
    """log(p^a q^b/B(a, b)) at p = a/(a + b)."""
    total = a + b
    size = 0.5 * (np.log(a) + np.log(b) - np.log(total)) - LOG_ROOT_2PI
    return np.asarray(size + binet(total) - binet(a) - binet(b))


def log_beta_kernel_far(a: float, b: float, log_ratio: Array) -> Array:
    """`log_beta_kernel` where p is below any float64, from log(p/q) = log p."""
    first = a * (log_ratio - np.log(a) + np.log(a + b))
    second = b * np.logaddexp(0.0, np.log(a) - np.log(b)) - np.exp(np.log(b) + log_ratio)
    return _largest_beta_kernel(a, b) + first + second


def log_dirichlet_kernel(alpha: Array, x: Array) -> Array:
    """log(Π x_c^{α_c}/B(α)) of rows of positive shares."""
    total = alpha.sum()
    size = 0.5 * (np.log(alpha).sum() - np.log(total)) - (alpha.size - 1) * LOG_ROOT_2PI
    corrections = binet(total) - binet(alpha).sum()
    return np.asarray(size + corrections - deviance(alpha, total * x).sum(axis=-1))


def dirichlet_entropy(alpha: Array) -> float:
    """log B(α) + (Σα − K)ψ(Σα) − Σ(α_c − 1)ψ(α_c), with the large terms cancelled."""
    total, k = float(alpha.sum()), alpha.size
    each = [0.5 * np.log(a) + binet(a) + (a - 1) * log_minus_digamma(a) for a in alpha]
    rest = (k - 0.5) * np.log(total) + binet(total) + (total - k) * log_minus_digamma(total)
    return float(np.sum(each) + (k - 1) * LOG_ROOT_2PI - rest)


def dirichlet_divergence(first: Array, second: Array) -> float:
    """KL of two Dirichlet distributions, with the large terms cancelled to a deviance."""

    def rest(a: float, b: float) -> float:
        size = 0.5 * (np.log(a) - np.log(b)) + binet(b) - binet(a)
        return float(size - (a - b) * log_minus_digamma(a))

    one, two = float(first.sum()), float(second.sum())
    each = [rest(float(a), float(b)) for a, b in zip(first, second, strict=True)]
    means = deviance(second, two * (first / one)).sum()
    return float(means + np.sum(each) - rest(one, two))


def log_minus_digamma(x: float) -> float:
    """log x − ψ(x), which is nearly 1/(2x) for large x."""
    if x < 50:
        return float(np.log(x) - digamma(x))
    square = 1 / x / x
    return float(0.5 / x + square * (1 / 12 - square * (1 / 120 - square / 252)))


def gamma_cdf(k: Any, y: Any, *, upper: bool = False) -> Array:
    """∫ t^{k−1} e^{−t}/Γ(k) dt from 0 to y, or from y to infinity if `upper`."""
    k, y = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(y, dtype=np.float64))
    large = k >= LARGE_GAMMA
    by_scipy = (gammaincc if upper else gammainc)(np.where(large, 1.0, k), y)
    if not large.any():
        return np.asarray(by_scipy)
    k = np.where(large, k, LARGE_GAMMA)
    with np.errstate(all="ignore"):
        # D(k, y) = k·(λ − log(1 + λ)) with λ = (y − k)/k, and ½η² = D/k.
        energy = deviance(k, y)
        root = np.sign(y - k) * np.sqrt(2 * energy)
        eta = np.clip(root / np.sqrt(k), -0.2, 0.2)
        sums = [np.polynomial.polynomial.polyval(eta, each) for each in _TEMME]
        rest = np.exp(-energy - LOG_ROOT_2PI) / np.sqrt(k)
        rest = rest * (sums[0] + (sums[1] + sums[2] / k) / k)
    found = ndtr(-root) + rest if upper else ndtr(root) - rest
    return np.where(large, np.clip(found, 0.0, 1.0), by_scipy)


def gamma_quantile(k: float, probability: Array) -> Array:
    """The y with `gamma_cdf(k, y) = probability`."""
    if k < LARGE_GAMMA:
        return np.asarray(gammaincinv(k, probability))
    z, root = ndtri(probability), np.sqrt(k)
    start = 1 - 1 / (9 * k) + z / (3 * root)  # Wilson and Hilferty
    y = k * np.maximum(start, 1e-3) ** 3
    return _refined(y, probability, lambda y: gamma_cdf(k, y), lambda y: log_gamma_kernel(k, y))


def beta_cdf(a: Any, b: Any, p: Any, q: Any) -> Array:
    """The regularised incomplete Beta function I_p(a, b); p + q = 1, each with its own digits."""
    a, b, p, q = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (a, b, p, q)))
    least, most = np.minimum(a, b), np.maximum(a, b)
    large, edge = least >= LARGE_BETA, (most >= HUGE_BETA) & (least < LARGE_BETA)
    usual = ~(large | edge)
    found = np.empty(p.shape)
    near_one = p > 0.9
    lower, upper = usual & ~near_one, usual & near_one
    found[lower] = betainc(a[lower], b[lower], p[lower])
    found[upper] = betaincc(b[upper], a[upper], q[upper])  # near p = 1 the digits are in q
    if edge.any():
        small, great = edge & (b > a), edge & (b <= a)
        with np.errstate(over="ignore"):
            of_p, of_q = b * _minus_log(p, q), a * _minus_log(q, p)
        below = gamma_cdf(np.where(small, a, 1.0), np.where(small, of_p, 1.0))
        above = gamma_cdf(np.where(great, b, 1.0), np.where(great, of_q, 1.0), upper=True)
        found = np.where(small, below, np.where(great, above, found))
    return np.where(large, _large_beta_cdf(a, b, p, q), found) if large.any() else found


def beta_quantile(a: float, b: float, probability: Array) -> Array:
    """The p with I_p(a, b) = probability."""
    if min(a, b) < LARGE_BETA:
        if max(a, b) >= HUGE_BETA:
            if b > a:
                return -np.expm1(-gamma_quantile(a, probability) / b)
            return np.exp(-gamma_quantile(b, 1 - probability) / a)
        found = np.asarray(betaincinv(a, b, probability))
        if is_quantile(partial(betainc, a, b), found, probability):
            return found
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-beta_log_odds(a, b, probability)))


def is_quantile(cdf: Callable[[Array], Array], found: Array, probability: Array) -> bool:
    """Whether quantiles of SciPy are right up to the rounding of one number."""
    with np.errstate(all="ignore"):
        low, high = cdf(np.nextafter(found, -np.inf)), cdf(np.nextafter(found, np.inf))
        below, above = low <= probability * (1 + 1e-13), high >= probability * (1 - 1e-13)
    return bool(((below | np.isnan(low)) & (above | np.isnan(high)) & np.isfinite(found)).all())


def beta_log_odds(a: float, b: float, probability: Array) -> Array:
    """log(p/(1 − p)) with I_p(a, b) = probability, for shapes that are not huge."""
    probability = np.asarray(probability, dtype=np.float64)
    below = probability <= 0.5
    found = np.empty(probability.shape)
    found[below] = _low_log_odds(a, b, probability[below])
    found[~below] = -_low_log_odds(b, a, 1 - probability[~below])
    return found


def _low_log_odds(a: float, b: float, probability: Array) -> Array:
    """`beta_log_odds` of probabilities up to one half, by Newton's method for log I.

    log I is concave in t = log(p/(1 − p)) with the slope p^a (1 − p)^b/(B(a, b)·I), because the
    density of t is log-concave. From any start the second step is on the left of the solution,
    from where the steps ascend to it.
    """
    with np.errstate(all="ignore"):
        goal = np.log(probability)
        # p^a/(a·B(a, b)) where p is so small that nothing else counts, and likewise 1 − p.
        size = betaln(a, b)
        low = (goal + np.log(a) + size) / a
        high = (np.log1p(-probability) + np.log(b) + size) / b
        spread = np.sqrt(zeta(2, a) + zeta(2, b))
        t = np.nan_to_num(digamma(a) - digamma(b) + ndtri(probability) * spread)
        at_low = np.log(max(1.0, b)) + low < NEGLIGIBLE
        known = at_low | (np.log(max(1.0, a)) + high < NEGLIGIBLE)
        t = np.where(known, np.where(at_low, low, -high), np.clip(t, -FARTHEST, FARTHEST))
        for _ in range(MOST_STEPS):
            p, q = 1 / (1 + np.exp(-t)), 1 / (1 + np.exp(t))
            kernel, found = log_beta_kernel(a, b, p, q), np.log(beta_cdf(a, b, p, q))
            # Where I underflows: I < p^a (1 − p)^b/(B·(a − (a + b)p)) on the left of the mode.
            rate = np.log(np.maximum(a * q - b * p, 0.5 * a * q))
            lost = np.isneginf(found)
            step = (goal - np.where(lost, kernel - rate, found)) / np.exp(
                np.where(lost, rate, kernel - found)
            )
            step = np.where(np.isnan(step) | known, 0.0, np.clip(step, -FARTHEST, FARTHEST))
            t = np.where(known, t, np.clip(t + step, -FARTHEST, FARTHEST))
            if np.all(np.abs(step) <= 1e-7 * min(spread, 1.0) + 1e-15 * np.abs(t)):
                break  # the error after a step is its square
    return t


def _minus_log(p: Array, q: Array) -> Array:
    """−log q with p + q = 1."""
    with np.errstate(divide="ignore"):
        return np.where(p < 0.5, -np.log1p(-np.minimum(p, 0.5)), -np.log(q))


def _large_beta_cdf(a: Array, b: Array, p: Array, q: Array) -> Array:
    with np.errstate(all="ignore"):
        total = a + b
        away = np.where(p < q, total * p - a, b - total * q)
        energy = deviance(a, total * p, -away) + deviance(b, total * q, away)
        root = np.sign(away) * np.sqrt(2 * energy)
        gap = away / np.sqrt(a / total * b)
        # 1/root − 1/gap, whose limit at the mode is a sixth of the skewness.
        limit = (b - a) / total * np.sqrt(total / a / b) / 3
        step = np.where(np.abs(root) > SMALL_STEP, 1 / root - 1 / gap, limit)
        return np.clip(ndtr(root) + np.exp(-energy - LOG_ROOT_2PI) * step, 0.0, 1.0)


def _refined(x: Array, probability: Array, cdf: Any, log_kernel: Any) -> Array:
    """Newton's method for log cdf(x) = log probability; x·density = e^{log_kernel}."""
    goal = np.log(probability)
    for _ in range(6):
        with np.errstate(all="ignore"):
            found = np.log(cdf(x))
            step = x * (found - goal) * np.exp(found - log_kernel(x))
        x = x - np.where(np.isfinite(step), step, 0.0)
    return x
