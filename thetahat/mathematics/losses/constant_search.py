"""Best constants by search, for losses without a closed form: argmin_c Σ wᵢ ℓ(yᵢ, c)."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating
from thetahat.mathematics.losses.base import Curved, Subdifferentiable
from thetahat.mathematics.losses.constants import weights_or_ones

N_LEVELS = 33
"""How many quantiles of y are tried."""
POWERS = 2.0 ** np.arange(-6, 8)
"""Sizes of z that are tried besides, for losses whose z is not on the scale of y."""


def best_number(loss: Subdifferentiable, y: Array, weight: Array | None = None) -> Array:
    """The best constant of a loss with one prediction per row, to rounding.

    The lowest of a grid (quantiles of y, powers of two) is refined between its neighbours: at the
    root of the slope where that changes sign, else by a bounded search. When the loss falls for
    ever, as with labels of one class, the end of the grid is returned. Cost: about 100 evaluations
    of the loss.
    """
    from scipy.optimize import brentq, minimize_scalar

    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)

    def risk(c: float) -> float:
        return float(xp.sum(weight * loss.value(y, _constant(xp, y, c))))

    def slope(c: float) -> float:
        return float(xp.sum(weight * loss.gradient(y, _constant(xp, y, c))))

    with np.errstate(all="ignore"):
        grid = _grid(xp, y)
        risks = np.array([risk(c) for c in grid])
        k = int(np.argmin(np.where(np.isnan(risks), np.inf, risks)))
        if 0 < k < len(grid) - 1:
            low, high = float(grid[k - 1]), float(grid[k + 1])
            # The root of the slope first: near a minimum the values tell half the digits only.
            if slope(low) < 0 < slope(high):
                root = brentq(slope, low, high, xtol=1e-15 * (high - low), rtol=1e-15)
                if risk(root) <= risks[k]:
                    return _constant(xp, y, root)
            search: Any = minimize_scalar
            found = search(risk, bounds=(low, high), options={"xatol": 1e-9 * (high - low)})
            if found.fun <= risks[k]:
                return _constant(xp, y, found.x)
    return _constant(xp, y, grid[k])


def best_scores(
    loss: Subdifferentiable, y: Array, weight: Array | None = None, n_classes: int | None = None
) -> Array:
    """The best constant scores, one per class: quasi-Newton steps, then a search along lines.

    The search needs no gradient, so it goes on where kinks stop the first. Cost: O(C) dozens of
    evaluations of the loss.
    """
    from scipy.optimize import minimize

    xp, y = floating(y)
    weight = weights_or_ones(xp, y, weight)
    share = weight / xp.sum(weight)
    n_classes = 1 + int(xp.max(y)) if n_classes is None else n_classes

    def risk(scores: Array) -> tuple[float, Array]:
        row = xp.asarray(scores.tolist(), dtype=y.dtype, device=device(y))
        z = xp.broadcast_to(row, (y.shape[0], n_classes))
        slope = xp.sum(share[:, None] * loss.gradient(y, z), axis=0)
        return (
            float(xp.sum(share * loss.value(y, z))),
            np.array([float(slope[c]) for c in range(n_classes)]),
        )

    search: Any = minimize
    with np.errstate(all="ignore"):
        found = search(risk, np.zeros(n_classes), jac=True, method="BFGS", options={"gtol": 1e-9})
        if not isinstance(loss, Curved):
            found = search(lambda scores: risk(scores)[0], found.x, method="Powell")
    return xp.asarray(found.x.tolist(), dtype=y.dtype, device=device(y))


def _constant(xp: Any, y: Array, c: float) -> Array:
    return xp.asarray(float(c), dtype=y.dtype, device=device(y))


def _grid(xp: Any, y: Array) -> Array:
    """Candidates in increasing order; zero and both signs of every size are among them."""
    ordered = xp.sort(y)
    last = y.shape[0] - 1
    levels = [float(ordered[round(share * last)]) for share in np.linspace(0.0, 1.0, N_LEVELS)]
    beyond = 2 * max(abs(levels[0]), abs(levels[-1]))
    return np.unique(np.concatenate([levels, POWERS, -POWERS, [0.0, beyond, -beyond]]))
