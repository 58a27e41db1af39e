"""The plain twins of the kernels for rounded-off losses: short, slow and easy to believe."""

import numpy as np


def rounded_rows(
    z, y, anchor, weight, lower, upper, kink, curvature, reach, multipliers, pull, bend, sums
):
    """Multipliers of the rounded loss, what they pull, where it bends, and four sums."""
    w = weight if weight.size else np.ones(len(y))
    shifted, bent = y - z + anchor / reach, curvature + 1 / reach
    free = (shifted - np.clip(shifted, -kink, kink)) / bent
    m = np.clip(free, lower, upper)
    inside = (free > lower) & (free < upper) & (np.abs(shifted) >= kink)
    conjugate = kink * np.abs(m) + curvature / 2 * m * m
    travel = (m - anchor) ** 2 / (2 * reach)
    multipliers[:], pull[:], bend[:] = m, w * m, w * inside / bent
    sums[:] = [
        np.sum(w * (m * (y - z) - conjugate - travel)),
        np.sum(w * loss(y - z, lower, upper, kink, curvature)),
        np.sum(w * (m * y - conjugate)),
        np.sum(w * travel),
    ]


def loss(residual, lower, upper, kink, curvature):
    """The best of all lines: tried at the ends of the box, at 0, and where the parabola is flat."""
    beyond = residual - np.clip(residual, -kink, kink)
    flat = np.clip(beyond / curvature, lower, upper) if curvature else np.zeros_like(residual)
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (lower, upper)]
    tried = np.stack([*ends, np.zeros_like(residual), flat])
    return (tried * residual - kink * np.abs(tried) - curvature / 2 * tried**2).max(axis=0)


def slope(t, y, z, across, anchor, share, lower, upper, kink, curvature, reach, level, rise):
    """The slope of the rounded mean at θ + t·direction, and of the penalty's level + t·rise."""
    shifted = y - z - t * across + anchor / reach
    free = (shifted - np.clip(shifted, -kink, kink)) / (curvature + 1 / reach)
    return level + t * rise - np.sum(np.clip(free, lower, upper) * share * across)


def flat_step(*arguments):
    """The full step, doubled or bracketed; then false position, a resting end counted half."""
    *arguments, flat = arguments

    def at(t):
        return slope(t, *arguments)

    enough = flat * abs(at(0.0))
    low, low_slope, high, high_slope = 0.0, at(0.0), 1.0, at(1.0)
    while high_slope < -enough and high < 2.0**20:
        low, low_slope, high, high_slope = high, high_slope, 2 * high, at(2 * high)
    if abs(high_slope) <= enough:
        return high
    for _ in range(60):
        t = high - high_slope * (high - low) / (high_slope - low_slope)
        t = t if low < t < high else (low + high) / 2
        found = at(t)
        if abs(found) <= enough:
            return t
        if found < 0:
            low, low_slope, high_slope = t, found, high_slope / 2
        else:
            high, high_slope, low_slope = t, found, low_slope / 2
    return high
