"""The minimum over the free variables of a dual, where steps of two variables are too many.

With an ill-conditioned kernel, two variables at a time approach the minimum very slowly. The
variables at their bounds are known long before. For the others the minimum solves linear equations:

    K d + A μ = −g,   Aᵀ d = 0

with the gradient g, and a column of A for each fixed sum. The step goes along d until a variable
reaches its bound, and is then repeated without this variable. The objective never increases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.objective.kernel.gram_rows import GramRows

MOST_FREE = 200
"""Largest number of free variables: the equations are dense."""

INCONSISTENT = 1e-3
"""Equations whose error, relative to the slope, is larger have no solution."""


def minimise_on_face(rows: GramRows, dual: Any, beta: Array, gradient: Array) -> None:
    """Move the free variables of a `BoxDual` to their minimum or to their bounds, in place.

    Cost: O(m·f) kernel values and O(f³) for each variable that reaches a bound, with f ≤ 200 free
    variables. With more of them, nothing is done.
    """
    free = _free(dual, beta)
    if not 2 <= free.size <= MOST_FREE:
        return
    before = beta.copy()
    unit = np.zeros(len(beta))
    kernel = np.empty((free.size, free.size))
    for place, j in enumerate(free):
        unit[j] = 1.0
        kernel[:, place] = rows.times(unit, free)
        unit[j] = 0.0
    slope = gradient[free] + dual.kink * np.sign(beta[free])
    inner = np.arange(free.size)
    while inner.size >= 2:
        part = kernel[np.ix_(inner, inner)]
        step = _newton_direction(part, slope[inner], dual, free[inner])
        down, bend = float(slope[inner] @ step), float(step @ part @ step)
        if not (np.isfinite(down) and down < 0.0):
            break
        rooms = _rooms(dual, beta, free[inner], step)
        length = min(-down / bend if bend > 0.0 else np.inf, float(rooms.min()))
        if not np.isfinite(length):
            break
        hit = rooms <= length
        slope += kernel[:, inner] @ (length * step)
        beta[free[inner]] += length * step
        ends = _ends(dual, before, free[inner], step)
        beta[free[inner[hit]]] = ends[hit]
        if not hit.any():
            break
        inner = inner[~hit]
    gradient += rows.times(beta - before, np.arange(len(beta)))


def _free(dual: Any, beta: Array) -> Array:
    inside = (beta > dual.lower) & (beta < dual.upper)
    if dual.kink > 0:
        inside &= beta != 0
    return np.flatnonzero(inside)


def _newton_direction(kernel: Array, slope: Array, dual: Any, which: Array) -> Array:
    """The solution d of the equations, of least norm; without one, a direction that is flat."""
    groups = [(which >= each.start) & (which < each.stop) for each in dual.bounds]
    sums = np.column_stack([each for each in groups if each.any()]).astype(np.float64)
    size, n_sums = sums.shape
    scale = float(np.abs(kernel).max()) or 1.0
    system = np.zeros((size + n_sums, size + n_sums))
    system[:size, :size] = kernel / scale
    system[:size, size:], system[size:, :size] = sums, sums.T
    right = np.append(-slope / scale, np.zeros(n_sums))
    solved = np.linalg.lstsq(system, right, rcond=1e-14)[0]
    left = right - system @ solved
    # What is left of the slope is a direction without curvature: the objective falls to a bound.
    flat = np.linalg.norm(left) > INCONSISTENT * np.linalg.norm(right)
    step: Array = (left if flat else solved)[:size]
    return step - sums @ ((sums.T @ step) / sums.sum(axis=0))


def _ends(dual: Any, beta: Array, which: Array, step: Array) -> Array:
    """Where each variable stops: at 0 if there is a kink between, or at its bound."""
    ends = np.where(step > 0, dual.upper[which], dual.lower[which])
    crosses = (dual.kink > 0) & (beta[which] * step < 0) & (beta[which] * ends <= 0)
    found: Array = np.where(crosses, 0.0, ends)
    return found


def _rooms(dual: Any, beta: Array, which: Array, step: Array) -> Array:
    """How far each variable can go along the step."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rooms = (_ends(dual, beta, which, step) - beta[which]) / step
    return np.where(step == 0, np.inf, np.maximum(rooms, 0.0))
