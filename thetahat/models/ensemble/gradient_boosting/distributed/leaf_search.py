"""Leaf values of rows on workers: argmin over c of Σ w·ℓ(y, z + c), by a few passes.

``quantile``  exact selection. Each worker sorts the residuals of its leaves once and sends them as
              groups of neighbours, from whose ends this process computes bounds of the quantile.
              The next pass divides what lies within the bounds, until all groups are single values.
``huber``     Newton steps from the median, as in memory
others        the root of the slope is bracketed, as in memory
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import BestShift, Subdifferentiable
from thetahat.models.ensemble.gradient_boosting.distributed import leaf_rows
from thetahat.models.ensemble.gradient_boosting.distributed.leaf_rows import Groups
from thetahat.models.ensemble.gradient_boosting.leaf_values import turning_points

MOST_GROUPS = 1 << 17
"""Groups of residuals that come to this process in one pass, about."""
LEAST_GROUPS = 8
"""Groups of each leaf and partition, at least."""
TIE = 1e-12
"""Share of the total up to which cumulative weights are equal, as in memory."""
HUBER_STEPS = 200

Ask = Callable[..., Any]
"""``ask(prepare, work, *settings)``: the merged results of `work` on the leaves as `prepare` left
them."""


def searched_values(
    ask: Ask, n_leaves: int, n_parts: int, loss: Subdifferentiable, column: int
) -> Array:
    """The best constant of every leaf. Cost: O(n log n) once and O(n) a pass, on the workers."""
    match loss.best_shift:
        case BestShift("quantile", level):
            return _quantiles(ask, n_leaves, n_parts, level)
        case BestShift("huber", delta):
            return _huber_constants(ask, _quantiles(ask, n_leaves, n_parts, 0.5), delta)

    def slopes(constants: Array) -> Array:
        found = ask(leaf_rows.leaf_rows, leaf_rows.slope_sums, loss, column, constants)
        return np.asarray(found.values)

    weights = ask(leaf_rows.leaf_rows, leaf_rows.weight_sums, n_leaves).values
    return turning_points(slopes, n_leaves, weights)


def _quantiles(ask: Ask, n_leaves: int, n_parts: int, level: float) -> Array:
    """The middle of all c with Σ_{r<c} w ≤ level·Σw ≤ Σ_{r≤c} w, for each leaf."""
    size = max(LEAST_GROUPS, MOST_GROUPS // (n_leaves * n_parts))
    low, high = np.full(n_leaves, -np.inf), np.full(n_leaves, np.inf)
    totals: Array | None = None
    while True:
        found = ask(leaf_rows.residuals, leaf_rows.grouped, low, high, size)
        if totals is None:
            totals = np.array([groups[2].sum() for groups in found.groups])
        if all(np.array_equal(groups[0], groups[1]) for groups in found.groups):
            return np.array([_selected(found, k, level, totals[k]) for k in range(n_leaves)])
        for leaf, (first, last, weights) in enumerate(found.groups):
            aim = (level - TIE) * totals[leaf]
            low[leaf] = _reached(first, weights, found.below[leaf], aim)
            high[leaf] = max(low[leaf], _reached(last, weights, found.below[leaf], aim))


def _reached(values: Array, weights: Array, below: float, aim: float) -> float:
    """The first value, in ascending order, at which the weights add up to the aim."""
    order = np.argsort(values, kind="stable")
    place = np.searchsorted(below + np.cumsum(weights[order]), aim)
    return float(values[order[min(int(place), len(order) - 1)]])


def _selected(found: Groups, leaf: int, level: float, total: float) -> float:
    """The quantile, where all groups are single values."""
    values, which = np.unique(found.groups[leaf][0], return_inverse=True)
    sums = found.below[leaf] + np.cumsum(np.bincount(which, weights=found.groups[leaf][2]))
    place = min(int(np.searchsorted(sums, (level - TIE) * total)), len(values) - 1)
    lower = values[place]
    upper = values[place + 1] if place + 1 < len(values) else found.above[leaf]
    if np.isfinite(upper) and sums[place] <= (level + TIE) * total:
        return float(lower + (upper - lower) / 2)
    return float(lower)


def _huber_constants(ask: Ask, start: Array, delta: float) -> Array:
    """The constants with the smallest Huber loss; see native/trees/gradient/leaf_constants.cpp."""
    c, reach = start.copy(), np.full(len(start), delta)
    low, high = np.full(len(c), -np.inf), np.full(len(c), np.inf)
    moving = np.ones(len(c), dtype=bool)
    for _ in range(HUBER_STEPS):
        pull, bend = ask(leaf_rows.residuals, leaf_rows.huber_sums, c, delta).values
        moving &= pull != 0.0
        if not moving.any():
            break
        low, high = np.where(pull > 0, c, low), np.where(pull < 0, c, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = c + pull / bend  # infinite if the curvature is 0
            halved = low + (high - low) / 2
        least = 1e-13 * (delta + np.abs(c))
        held = np.isfinite(low) & np.isfinite(high)
        # A step that is lost in rounding ends at c, which is one end of the bracket.
        outside = ~((step > low) & (step < high)) & ~(np.abs(step - c) <= least)
        further = np.where(held, halved, c + np.copysign(reach, pull))
        reach = np.where(outside, 2 * reach, reach)
        moved = np.where(moving, np.where(outside, further, step), c)
        moving &= np.abs(moved - c) > least
        c = moved
    return c
