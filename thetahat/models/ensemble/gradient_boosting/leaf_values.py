"""The value of a leaf: argmin over c of Σ w·ℓ(y, z + c) over its rows.

``newton``       one Newton step from c = 0, −Σw·ℓ′/(Σw·ℓ″ + λ); splits use ℓ″ too
``line_search``  the minimum itself; splits use the slopes only

Losses that declare a steady curvature (squared, logistic, softmax, Poisson, exponential) take
Newton steps. All others, with kinks, flat parts or negative curvature among them, are searched:
those that declare their best shift by that statistic (absolute and quantile loss by selecting the
quantile, Huber's by Newton steps from the median), the rest by bracketing the root of the slope.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import BestShift, Curved, Loss, Subdifferentiable
from thetahat.models.ensemble.gradient_boosting.gradient_trees import Leaves

DOUBLINGS = 60
HALVINGS = 60


def takes_newton_steps(loss: Loss, leaf_update: str) -> bool:
    """Whether leaves and splits use the curvature of the loss."""
    wanted = loss.steady_curvature if leaf_update == "auto" else leaf_update == "newton"
    return wanted and isinstance(loss, Curved)


def newton_values(leaves: Leaves, slope: Array, curvature: Array, weight: Array | None) -> Array:
    """−Σw·ℓ′/Σw·ℓ″ of every leaf; 0 where the curvature is 0. Cost: O(n)."""
    rows, starts = leaves.order, leaves.bounds[:-1]
    w = 1.0 if weight is None else weight[rows]
    G = np.add.reduceat(slope[rows] * w, starts)
    H = np.add.reduceat(curvature[rows] * w, starts)
    return -G / np.where(H > 1e-150, H, np.inf)


def searched_values(
    loss: Subdifferentiable,
    leaves: Leaves,
    y: Array,
    raw: Array,
    column: int,
    weight: Array | None,
) -> Array:
    """The best constant of every leaf. Cost: O(n) for quantiles, O(n) a step for the others."""
    match loss.best_shift:
        case BestShift("quantile", level):
            return leaves.quantiles(y - raw[:, 0], weight, level)
        case BestShift("huber", delta):
            return leaves.huber_constants(y - raw[:, 0], weight, delta)
    rows, of_rows = leaves.order, leaves.of_rows
    y, raw = y[rows], raw[rows]
    w = None if weight is None else weight[rows]

    def slopes(constants: Array) -> Array:
        return leaf_slopes(loss, y, raw, column, w, of_rows, constants)

    weights = np.bincount(of_rows, weights=w, minlength=len(leaves.nodes))
    return turning_points(slopes, len(leaves.nodes), weights)


def leaf_slopes(
    loss: Subdifferentiable,
    y: Array,
    raw: Array,
    column: int,
    weight: Array | None,
    of_rows: Array,
    constants: Array,
) -> Array:
    """Σ w·ℓ′(y, z + c) of every leaf, with its constant c; `of_rows` is the leaf of each row."""
    z = raw.copy()
    z[:, column] += constants[of_rows]
    slope = loss.gradient(y, z if loss.columns == "per class" else z[:, 0])
    numbers = slope[:, column] if slope.ndim == 2 else slope
    if weight is not None:
        numbers = numbers * weight
    return np.bincount(of_rows, weights=numbers, minlength=len(constants))


def turning_points(slopes: Any, n: int, weights: Array) -> Array:
    """Where the slope of the loss of each leaf changes sign, going downhill from 0.

    The bracket doubles until the slope changes sign; then secant steps shrink it, at least by a
    tenth. Where the loss decreases without end, the leaf takes the mean slope as its step, as far
    as the loss keeps decreasing.
    """
    start = slopes(np.zeros(n))
    direction = -np.sign(start)
    reach = np.abs(start) / np.maximum(weights, np.finfo(float).tiny)
    reach = np.where(reach > 0, reach, 1.0)
    low, high = np.zeros(n), reach.copy()
    slope_low = np.abs(start) * -1.0
    slope_high = direction * slopes(direction * high)
    for _ in range(DOUBLINGS):
        open_ = (slope_high < 0) & (direction != 0)
        if not open_.any():
            break
        low = np.where(open_, high, low)
        slope_low = np.where(open_, slope_high, slope_low)
        high = np.where(open_, 2 * high, high)
        slope_high = np.where(open_, direction * slopes(direction * high), slope_high)
    endless = slope_high < 0
    for _ in range(HALVINGS):
        if np.all((high - low <= 1e-12 * high) | (slope_low == 0) | (slope_high == 0)):
            break
        share = slope_low / np.where(slope_low == slope_high, 1.0, slope_low - slope_high)
        middle = low + (high - low) * np.clip(share, 0.1, 0.9)
        slope = direction * slopes(direction * middle)
        below = slope < 0
        low, slope_low = np.where(below, middle, low), np.where(below, slope, slope_low)
        high, slope_high = np.where(below, high, middle), np.where(below, slope_high, slope)
    found = np.where(slope_high == 0, high, np.where(slope_low == 0, low, (low + high) / 2))
    return direction * np.where(endless, reach, found)
