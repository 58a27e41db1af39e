"""Distances whose sums of powers under- or overflow, measured again in their own unit.

d(x, y) = 2^e·(Σ_j |(x_j − y_j)/2^e|^p)^{1/p} with 2^e next to max_j |x_j − y_j|
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

SMALLEST = 1e-290
"""Sums of powers below this have lost digits."""
PAIRS_AT_ONCE = 1 << 16


def measured_again(X: Array, Y: Array, power: float) -> Array:
    """The distances between rows of X and Y, one pair for each; one row stands for all."""
    with np.errstate(over="ignore", under="ignore"):
        gap, halved = np.abs(X - Y), 0
        if not np.isfinite(gap).all():
            gap, halved = np.abs(0.5 * X - 0.5 * Y), 1
        exponent = np.frexp(gap.max(axis=1))[1]
        # Two steps, because one factor may be beyond the range of numbers.
        half = exponent // 2
        scaled = np.ldexp(np.ldexp(gap, -half[:, None]), (half - exponent)[:, None])
        sums = (scaled * scaled if power == 2 else scaled**power).sum(axis=1)
        root = np.sqrt(sums) if power == 2 else sums ** (1 / power)
        return np.asarray(np.ldexp(root, exponent + halved))


def remeasure(found: Array, reduced: Array, X: Array, Y: Array, power: float) -> None:
    """Replace the distances between all rows whose reduced distances are out of range."""
    first, second = np.nonzero(~((reduced >= SMALLEST) & (reduced < np.inf)))
    for start in range(0, len(first), PAIRS_AT_ONCE):
        i, j = first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
        found[i, j] = measured_again(X[i], Y[j], power)
