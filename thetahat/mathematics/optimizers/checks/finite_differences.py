"""Derivatives by central differences, with an estimate of their error.

(f(x + h) − f(x − h)) / 2h has the error c₂h² + c₄h⁴ + …. Differences at h, h/4, h/16, … are
combined so that one power after the other cancels (Richardson extrapolation in the tableau of
Ridders). Large steps suffer from the remaining powers, small ones from rounding. For each entry the
number of the tableau that differs least from its neighbours is used, and this difference is the
error estimate. At a kink the slopes from the left and the right differ for any step; half of their
difference is added to the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array

FIRST_STEP = 0.05
"""The largest step, relative to max(1, |x|)."""
SHRINK = 4.0
N_STEPS = 7


class Estimate(NamedTuple):
    """A derivative by finite differences and an estimate of its error, for each entry."""

    value: Array
    error: Array


def numeric_jacobian(f: Callable[[Array], Array], x: Array | float) -> Estimate:
    """All partial derivatives of f at x by extrapolated central differences.

    Formula: J[i, j] ≈ (f_i(x + h·e_j) − f_i(x − h·e_j)) / 2h, extrapolated to h → 0. Cost: 14
    evaluations of f per entry of x. Computed in float64 for any dtype of x.

    Parameters
    ----------
    f : callable
        The function, which takes an array and returns an array or a number. Steps that leave its
        domain, so that the value is not finite, are ignored.
    x : array
        The point at which the derivatives are computed.

    Returns
    -------
    Estimate
        ``value`` and ``error``, both of shape ``f(x).shape + x.shape``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> J = th.optimizers.numeric_jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]), [2.0, 3.0])
    >>> J.value.round(9)
    array([[3., 2.],
           [0., 6.]])
    """
    x = np.array(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        here = np.asarray(f(x), dtype=np.float64)
        columns = [_partial(f, x, here, index) for index in np.ndindex(x.shape)]
    shape = (*here.shape, *x.shape)
    value = np.stack([column.value for column in columns], -1) if columns else np.zeros(shape)
    error = np.stack([column.error for column in columns], -1) if columns else np.zeros(shape)
    return Estimate(value.reshape(shape), error.reshape(shape))


def numeric_gradient(f: Callable[[Array], Any], x: Array) -> Estimate:
    """The gradient of a scalar function at x by extrapolated central differences.

    Formula: ∂f/∂x_j ≈ (f(x + h·e_j) − f(x − h·e_j)) / 2h, extrapolated to h → 0. Cost: 14
    evaluations of f per entry of x.

    Parameters
    ----------
    f : callable
        The function, which takes an array and returns a number.
    x : array
        The point at which the gradient is computed.

    Returns
    -------
    Estimate
        ``value`` and ``error``, both of the shape of x.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.optimizers.numeric_gradient(lambda x: np.sum(np.exp(x)), np.zeros(2)).value.round(9)
    array([1., 1.])
    """
    return numeric_jacobian(lambda point: np.asarray(f(point), dtype=np.float64).reshape(()), x)


def _partial(f: Callable[[Array], Array], x: Array, here: Array, index: Any) -> Estimate:
    """∂f/∂x[index], by Ridders' tableau; `here` is f(x)."""
    best: Array = np.full(here.shape, np.nan)
    error: Array = np.full(here.shape, np.inf)
    above: list[Array] = []
    gap: Array = np.zeros(here.shape)
    for k in range(N_STEPS):
        step = FIRST_STEP * max(1.0, abs(x[index])) / SHRINK**k
        right, left = x.copy(), x.copy()
        right[index] += step
        left[index] -= step
        width = right[index] - left[index]
        high, low = (np.asarray(f(point), dtype=np.float64) for point in (right, left))
        rounding = EPSILON * np.maximum(abs(high), abs(low)) / width
        row = [(high - low) / width]
        for m, previous in enumerate(above, start=1):
            power = SHRINK ** (2 * m)
            row.append((power * row[-1] - previous) / (power - 1))
            distance = np.maximum(abs(row[-1] - row[-2]), abs(row[-1] - previous)) + rounding
            settled = distance < error
            best, error = np.where(settled, row[-1], best), np.where(settled, distance, error)
        above = row
        # The right slope minus the left slope is h·f″ + O(h³), unless there is a kink.
        wider, gap = gap, 2 * (high - 2 * here + low) / width
        kink = abs(SHRINK * gap - wider) / (SHRINK - 1)
    return Estimate(best, error + np.where(kink > 100 * rounding, kink / 2, 0.0))
