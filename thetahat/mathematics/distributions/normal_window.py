"""Mass, quantiles and moments of the normal density between two ends, with digits in the tails.

Three ways keep the digits: one Gauss rule if the density varies little between the ends, the
distance from the nearest end if the location is far outside, and log Φ otherwise.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.large_shapes import LOG_ROOT_2PI

PANELS, NODES = 12, 20
WIDEST = 12.0
"""Standard deviations beyond which the normal density is 0 for moments."""


def log_mass(a: Any, b: Any) -> Any:
    """log(Φ(b) − Φ(a)) without loss of digits in the tails."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    flipped = a > 0
    low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
    upper, lower = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = upper + np.log(-np.expm1(lower - upper))
        width = high - low
        narrow = is_narrow(low, width)
        if narrow.any():
            a, width = np.where(narrow, low, 0.0), np.where(narrow, width, 1.0)
            centre = a + width / 2
            near = (
                np.log(mean_density(a, width))
                - 0.5 * centre * centre
                - LOG_ROOT_2PI
                + np.log(width)
            )
            far = np.where(narrow, near, far)
        return np.where(low == high, -np.inf, far)[()]


def is_narrow(a: Any, width: Any) -> Any:
    """Whether φ varies so little over [a, a + width] that one Gauss rule integrates it exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((width <= 1) & (np.abs(a + width / 2) * width <= 4))


def mean_density(a: Any, width: Array) -> Array:
    """The average of φ(z)/φ(centre) over [a, a + width]."""
    nodes, weights = _one_panel()
    half = width[..., None] / 2
    away, centre = half * nodes, np.asarray(a)[..., None] + half
    return np.asarray(np.exp(-away * (centre + away / 2)) @ weights / 2)


def mass_from(a: float, steps: Array, width: float) -> Array:
    """The share of [a, a + steps] in the mass of [a, a + width], for a narrow interval."""
    # Both averages are relative to their own centres, which differ by (width − steps)/2.
    gap = (width - steps) / 2
    turn = np.exp(gap * (a + (width + steps) / 4))
    share = mean_density(a, np.asarray(steps)) / mean_density(a, np.asarray(width))
    return np.asarray(steps / width * turn * share)


def narrow_quantile(a: float, width: float, probability: Array) -> Array:
    """The steps from a to the quantiles of a narrow interval, by Newton's method."""
    tilt = (a + width / 2) * width  # the density falls nearly like e^{−tilt·s}, 0 ≤ s ≤ 1
    s = probability
    if abs(tilt) > 1e-8:
        s = -np.log1p(probability * np.expm1(-tilt)) / tilt
    whole = mean_density(a, np.asarray(width))
    for _ in range(4):
        away = width * (s - 0.5)
        slope = np.exp(-away * (a + width / 2 + away / 2)) / whole
        s = np.clip(s - (mass_from(a, s * width, width) - probability) / slope, 0.0, 1.0)
    return s * width


def mass_within(c: Any, width: Any) -> Array:
    """∫ e^{−cs − s²/2} ds from 0 to the width, for c ≥ 0."""
    c, width = np.broadcast_arrays(np.asarray(c, dtype=np.float64), np.asarray(width, float))
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = is_narrow(c, width)
        step = np.where(narrow, width, 0.0)
        near = step * mean_density(c, step) * np.exp(-step / 2 * (c + step / 4))
        lost = np.exp(-width * (c + width / 2)) * erfcx((c + width) / np.sqrt(2))
        far = np.sqrt(np.pi / 2) * (erfcx(c / np.sqrt(2)) - lost)
    return np.where(narrow, near, far)


def far_shares(c: float, width: float, near: Array, rest: Array) -> tuple[Array, Array]:
    """The shares of the mass nearer to the end at distance c, and beyond, (near, width − near)."""
    whole = mass_within(c, width)
    beyond = np.exp(-near * (c + near / 2)) * mass_within(c + near, rest)
    return np.minimum(mass_within(c, near) / whole, 1.0), np.minimum(beyond / whole, 1.0)


def far_steps(c: float, width: float, within: Array, beyond: Array) -> Array:
    """The steps from the nearest end at which the shares within and beyond are these.

    The energy E = cs + s²/2 has nearly the exponential distribution, so that Newton's method for
    the share of that one takes few iterations. The smaller share has more digits.
    """
    whole = mass_within(c, width)
    last = np.exp(-width * (c + width / 2))
    lower = within < beyond
    goal = np.where(lower, within, beyond)
    share, is_near = goal, False
    for _ in range(8):
        energy = -np.where(
            lower,
            np.log1p(-share * (1 - last)),
            np.log(np.maximum(share * (1 - last) + last, 1e-320)),
        )
        steps = np.minimum(2 * energy / (c + np.hypot(c, np.sqrt(2 * energy))), width)
        if is_near:
            break  # the error after a step is about its square
        found = np.where(*(lower, *far_shares(c, width, steps, width - steps)))
        is_near = bool((np.abs(found - goal) <= 1e-8 * goal).all())
        share = np.clip(share - (found - goal) * ((c + steps) * whole / (1 - last)), goal / 16, 1.0)
    return steps


@cache
def _one_panel() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(NODES)


@cache
def _nodes() -> tuple[Array, Array]:
    """Nodes and weights on [−1, 1]: Gauss-Legendre on equal panels."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    middles = (2 * np.arange(PANELS) + 1) / PANELS - 1
    return (middles[:, None] + nodes / PANELS).ravel(), np.tile(weights / PANELS, PANELS)


def window_moments(a: float, b: float, width: float) -> tuple[float, float, float, float]:
    """Moments of a standard normal z in [a, b], by quadrature: mean, variance and two more.

    The mean is the distance from the most probable value in [a, b], which is 0 or the nearer end,
    and the others are Cov(z, z²) and Var(z²). The width is b − a. The range is cut off where the
    density is less than e^{−72} of its largest value, so that the formulas have no differences of
    nearly equal numbers far in a tail.
    """
    peak = min(max(0.0, a), b)
    reach = min(WIDEST, 2 * WIDEST * 3 / max(abs(peak), 1e-300))
    # Relative to the peak: z² − peak² = (z − peak)(z + peak).
    if a >= 0:
        low, high = 0.0, min(width, reach)
    elif b <= 0:
        low, high = -min(width, reach), 0.0
    else:
        low, high = max(a, -WIDEST), min(b, WIDEST)
    nodes, weights = _nodes()
    offset = (high - low) / 2 * (nodes + 1) + low
    density = weights * np.exp(-0.5 * offset * (offset + 2 * peak))
    density /= density.sum()
    shift = float(density @ offset)
    away = offset - shift
    mean = peak + shift
    variance = float(density @ away**2)
    # z² − E z² = away² + 2·mean·away − variance
    square = away**2 + 2 * mean * away - variance
    return shift, variance, float(density @ (away * square)), float(density @ square**2)
