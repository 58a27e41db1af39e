"""Best constants: argmin_c Σ wᵢ ℓ(yᵢ, c), in closed form or by a search in one dimension.

In every function here, a row with weight two counts as that row twice and a row with weight zero
is ignored. Sums are computed in float64; results have the dtype of y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import device

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating
from thetahat.mathematics.losses.base import Curved, Reweightable

TIE = 1e-12
"""Cumulative weights whose difference is below this share of the total are treated as equal."""
N_REPRESENTATIVES = 1024
"""Number of rows on which the local minima of a non-convex loss are searched."""
N_STARTS = 33
MAX_STEPS = 200
ROUGH = 1e-3
"""Length of the steps that end the search of local minima, relative to the spread of the starts."""


def weights_or_ones(xp: Any, y: Array, weight: Array | None) -> Array:
    """The weights in float64, one for each row."""
    if weight is None:
        return xp.ones(y.shape, dtype=xp.float64, device=device(y))
    return xp.astype(xp.asarray(weight, device=device(y)), xp.float64)


def weighted_mean(y: Array, weight: Array | None = None) -> Array:
    """Σ wᵢyᵢ / Σ wᵢ: the best constant of the squared loss. Cost: O(n)."""
    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)
    mean = xp.sum(xp.astype(y, xp.float64, copy=False) * weight) / xp.sum(weight)
    return xp.astype(mean, y.dtype)


def weighted_quantile(y: Array, weight: Array | None = None, level: float = 0.5) -> Array:
    """The midpoint of all c with Σ_{yᵢ<c} wᵢ ≤ level·Σ wᵢ ≤ Σ_{yᵢ≤c} wᵢ. Cost: O(n log n).

    Every such c minimises the quantile loss. At level ½ this is the usual median.
    """
    xp, y = floating(y)
    if weight is None and type(y) is np.ndarray and y.ndim == 1:
        return _quantile(y, level)
    values, below = sorted_with_cumulative_weight(xp, y, weight)
    total = below[-1]
    lowest = _count(xp, below < (level - TIE) * total)
    highest = _count(xp, below <= (level + TIE) * total)
    low, high = values[lowest], values[min(highest, values.shape[0] - 1)]
    return low + (high - low) / 2


def _quantile(y: Array, level: float) -> Array:
    """The same of rows that count alike, without sorting them. Cost: O(n)."""
    n = len(y)
    lowest, highest = (math.ceil((level - TIE) * n) - 1, math.floor((level + TIE) * n))
    low, high = (min(max(at, 0), n - 1) for at in (lowest, highest))
    values = np.partition(y, (low, high))
    return values[low] + (values[high] - values[low]) / 2


def sorted_with_cumulative_weight(xp: Any, y: Array, weight: Array | None) -> tuple[Array, Array]:
    """y in increasing order, and the cumulative weight up to and including each value."""
    order = xp.argsort(y)
    weight = xp.take(weights_or_ones(xp, y, weight), order, axis=0)
    return xp.take(y, order, axis=0), xp.cumulative_sum(weight, axis=0)


def class_shares(y: Array, weight: Array | None, n_classes: int | None) -> Array:
    """The share of the weight in each class 0, …, C−1; C is 1 + max y unless it is given."""
    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)
    if n_classes is None:
        n_classes = 1 + int(xp.max(y))
    shares = xp.stack(
        [xp.sum(xp.where(y == label, weight, xp.zeros_like(weight))) for label in range(n_classes)]
    )
    return xp.astype(shares / xp.sum(weight), y.dtype)


def convex_constant(loss: Curved, y: Array, weight: Array | None = None) -> Array:
    """The root of the increasing function Σ wᵢ ∂ℓ(yᵢ, c), for a convex loss of z − y.

    Takes Newton's step if it stays inside the bracket of the root, else bisects the bracket.
    Cost: O(n) for each of a few steps.
    """
    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)
    low, high = float(xp.min(y)), float(xp.max(y))
    resolution = float(xp.finfo(y.dtype).eps) * max(abs(low), abs(high))
    constant = float(weighted_mean(y, weight))
    for _ in range(MAX_STEPS):
        z = xp.asarray(constant, dtype=y.dtype, device=device(y))
        slope = float(xp.sum(weight * loss.gradient(y, z)))
        if slope == 0 or high - low <= resolution:
            break
        low, high = (low, constant) if slope > 0 else (constant, high)
        curvature = float(xp.sum(weight * loss.curvature(y, z)))
        newton = constant - slope / curvature if curvature > 0 else low
        step = (newton if low < newton < high else (low + high) / 2) - constant
        constant += step
        if abs(step) <= resolution:
            break
    return xp.asarray(constant, dtype=y.dtype, device=device(y))


def robust_constant(loss: Reweightable, y: Array, weight: Array | None = None) -> Array:
    """The lowest local minimum of Σ wᵢ ρ(c − yᵢ) that is reached from quantiles of the data.

    Reweighted means c ← Σ wᵢ v(rᵢ) yᵢ / Σ wᵢ v(rᵢ), v(r) = ψ(r)/r, never increase the objective.
    Local minima are searched roughly, on at most `N_REPRESENTATIVES` rows; the best one is then
    refined on all rows. Cost: O(n log n) and O(n) for each step.
    """
    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)
    values, below = sorted_with_cumulative_weight(xp, y, weight)
    points, mass = y, weight
    if y.shape[0] > N_REPRESENTATIVES:
        points = _at_even_levels(xp, values, below, N_REPRESENTATIVES)
        mass = weights_or_ones(xp, points, None)
    starts = _at_even_levels(xp, values, below, N_STARTS)
    middle_half = float(starts[3 * N_STARTS // 4] - starts[N_STARTS // 4])
    minima = _reweighted_means(loss, points, mass, starts, ROUGH * middle_half)
    heights = xp.sum(mass * loss.value(points, minima[:, None]), axis=-1)
    lowest = int(xp.argmin(heights))
    return _reweighted_means(loss, y, weight, minima[lowest : lowest + 1])[0]


def _reweighted_means(
    loss: Reweightable, y: Array, weight: Array, starts: Array, resolution: float = 0.0
) -> Array:
    """Reweighted means from each of the starts, until no step is longer than the resolution.

    Nor than rounding errors are.
    """
    xp, y = floating(y)
    resolution = max(resolution, float(xp.finfo(y.dtype).eps) * float(xp.max(xp.abs(y))))
    constants = starts
    for _ in range(MAX_STEPS):
        joint = weight * loss.irls_weight(y, constants[:, None])
        total = xp.sum(joint, axis=-1)
        # If ρ is flat at all rows, all weights are 0 and the constant stays unchanged.
        pulled = total > 0
        means = xp.sum(joint * y, axis=-1) / xp.where(pulled, total, xp.ones_like(total))
        last, constants = constants, xp.where(pulled, xp.astype(means, y.dtype), constants)
        if float(xp.max(xp.abs(constants - last))) <= resolution:
            break
    return constants


def _at_even_levels(xp: Any, values: Array, below: Array, n_levels: int) -> Array:
    """The rows at the middle of each of `n_levels` equal shares of the weight."""
    levels = (xp.arange(n_levels, dtype=xp.float64, device=device(values)) + 0.5) / n_levels
    return xp.take(values, xp.searchsorted(below, levels * below[-1]), axis=0)


def _count(xp: Any, flags: Array) -> int:
    return int(xp.sum(xp.astype(flags, xp.int64)))
