"""Planes through subsets of rows in units in which no square of a coefficient over- or underflows.

The spatial median moves with its points when all of them are multiplied by one number, so y and the
planes are divided by powers of two near their size, and columns only while planes are computed.
Ordinary data are not changed at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.objective.robust.row_subsets import planes_through

FAR_OFF = 1e4
"""Columns and targets whose median size is above this, or below its inverse, are rescaled."""
FAR_PLANES = 1e2
"""The same for the size of the planes."""
LARGEST_TARGET = 1e200
"""Targets beyond this multiple of the median target are moved there."""
LARGEST_PLANE = 1e100
"""Planes beyond this size are shortened, which hardly changes the direction in which they pull."""
SMALLEST_EXPONENT = -1021
"""That of the smallest power of two whose inverse is a number."""
OUTLYING = 1e6
"""A mean of planes beyond this size is no start; their coordinatewise median is."""


@dataclass(frozen=True)
class ScaledPlanes:
    """Points whose multiples by `factor` are the planes."""

    points: Array
    factor: float

    def start(self) -> Array:
        """A point from which the spatial median is found."""
        mean = self.points.mean(axis=0)
        if self.points.shape[1] == 1 or np.abs(mean).max() > OUTLYING:
            return np.asarray(np.median(self.points, axis=0))
        return np.asarray(mean)


def scaled_planes(A: Array, y: Array, subsets: Array) -> ScaledPlanes:
    """The plane through each subset of the rows. Cost: O(count·size·p²)."""
    columns = np.array([_unit(size, FAR_OFF) for size in map(_median_size, A.T)])
    unit = _unit(_median_size(y), FAR_OFF)
    with np.errstate(over="ignore"):
        target = np.clip(y / unit, -LARGEST_TARGET, LARGEST_TARGET)
        planes = planes_through(A / columns, target, subsets)
    # β_j of the data is β_j/unit_j; the largest of these factors is taken out of all.
    most = 1.0 / columns.min()
    planes = planes / (columns * most)
    size = np.abs(planes).max(axis=1)
    level = _unit(_median_size(size), FAR_PLANES)
    shrink = LARGEST_PLANE / np.maximum(size / level, LARGEST_PLANE)
    return ScaledPlanes(planes / level * shrink[:, None], unit * most * level)


def _median_size(values: Array) -> float:
    size = np.abs(values)
    there = size[size > 0]
    return float(np.median(there)) if there.size else 0.0


def _unit(size: float, far: float) -> float:
    """A power of two near the size, or 1 if it is 0 or not far from 1."""
    if size == 0 or 1 / far <= size <= far:
        return 1.0
    return math.ldexp(1.0, max(math.frexp(size)[1] - 1, SMALLEST_EXPONENT))
