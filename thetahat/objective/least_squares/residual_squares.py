"""Σ w (y − xᵀβ − b)², summed over the rows themselves.

From moments the sum is a difference, Σ w(y − ȳ)² minus the part that β explains. It has about
16 + log₁₀(share) correct digits, where `share` is the sum relative to Σ w(y − ȳ)². Below
`FEW_DIGITS` one more pass over the rows, O(n d), gives all digits.
"""

from __future__ import annotations

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array
from thetahat.objective.sums import Sums

FEW_DIGITS = 1e-6
"""Share of Σ w(y − ȳ)² below which a sum from moments has too few digits."""


def residual_squares(source: Source, coef: Array, x_mean: Array, y_mean: Array) -> Array:
    """The sum for each column of β (d × k), if the plane passes through the means (or 0)."""
    found: Array = source.reduce(_summarise, coef, x_mean, y_mean).parts[0]
    return found


def _summarise(block: Block, coef: Array, x_mean: Array, y_mean: Array) -> Sums:
    X, y = to_host(block.X), to_host(block.y)
    # Dense rows are centred first, because large means would cost digits of small residuals.
    dense = isinstance(X, np.ndarray)
    fitted = (X - x_mean) @ coef if dense else X @ coef - x_mean @ coef
    residual = np.asarray(y, dtype=np.float64).reshape(len(fitted), -1) - y_mean - fitted
    squares = residual**2
    if block.weight is not None:
        squares = squares * np.asarray(to_host(block.weight), dtype=np.float64)[:, None]
    return Sums(parts=(squares.sum(axis=0),))
