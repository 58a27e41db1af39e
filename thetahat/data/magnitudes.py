"""Targets and row weights whose sums would leave the range of floating-point numbers.

A sum of numbers near 1.8e308 is infinite, and numbers below 2.2e-308 have lost digits. A common
factor of all targets or of all weights removes both without loss, so such data are refused with
the remedy instead of being fitted to NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

TARGETS = {np.dtype(np.float64): (1e-300, 1e300), np.dtype(np.float32): (1e-37, 1e37)}
"""Bounds of the largest |y|: with room for sums over rows, and above the subnormal numbers."""
WEIGHTS = (1e-100, 1e100)
"""Bounds of the largest row weight: products of two weights stay in range."""


def require_target_size(y: Array, dtype: Any, who: str, *, start: int | None = None) -> None:
    """Raise an error if the largest |y| is out of range for the precision of the fit.

    With the number `start` of its first row, y is a block of rows: others may be larger.
    """
    low, high = TARGETS[np.dtype(dtype)]
    largest = _largest(y)
    if largest > high or (start is None and 0 < largest < low):
        raise DataError(
            f"{who}: the largest target is {largest:.3g} in absolute value "
            f"(row {_row(y, start)}), but it must be between {low:g} and {high:g} for "
            f"{np.dtype(dtype).name} data, because sums "
            f"over rows would {'overflow' if largest > high else 'underflow'}. "
            f"{'Divide' if largest > high else 'Multiply'} all targets by the same number."
        )


def require_weight_size(weight: Array, who: str, *, start: int | None = None) -> None:
    """Raise an error if the largest row weight is so large or small that products are lost."""
    low, high = WEIGHTS
    largest = _largest(weight)
    if largest > high or (start is None and 0 < largest < low):
        raise DataError(
            f"{who}: the largest sample weight is {largest:.3g} (row {_row(weight, start)}), but "
            f"it must be between {low:g} and {high:g}, because sums over rows would "
            f"{'overflow' if largest > high else 'underflow'}. "
            f"{'Divide' if largest > high else 'Multiply'} all weights by the same number."
        )


def _largest(values: Array) -> float:
    """The largest absolute value; 0 without values."""
    return max(float(values.max()), -float(values.min())) if values.size else 0.0


def _row(values: Array, start: int | None) -> int:
    """The row of the largest absolute value, counted from `start`."""
    return (start or 0) + int(np.abs(values).argmax()) // (values.size // len(values))
