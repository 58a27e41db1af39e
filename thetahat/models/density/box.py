"""The box that contains a density: Π [lowⱼ, highⱼ], outside of which p = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.arguments import numbers
from thetahat.foundation.checked_value import CheckedValue, check_arrays
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Box(CheckedValue):
    """Lower and upper bounds of each column; infinite if the box is unbounded."""

    low: Array
    high: Array

    def __post_init__(self) -> None:
        d = np.size(self.low)
        check_arrays(self, {"low": (np.float64, (d,)), "high": (np.float64, (d,))})

    @property
    def log_volume(self) -> float:
        return float(np.log(self.high - self.low).sum())

    @property
    def is_open(self) -> bool:
        return not bool(np.isfinite(self.high - self.low).all())

    def contains(self, X: Array) -> Array:
        """Whether each row lies inside or on the border."""
        return np.all((self.low <= X) & (self.high >= X), axis=1)


def box_around(source: InMemory, bounds: Any, margin: float, who: str) -> Box:
    """The given bounds, or the smallest box around the rows, extended by margin·width on each side.

    A constant column has no width: its rows are a point mass, and no density exists.
    """
    if bounds is not None:
        return _given_box(source, bounds, who)
    low = source.X.min(axis=0).astype(np.float64)
    high = source.X.max(axis=0).astype(np.float64)
    _require_width(source, low, high, who)
    if margin == np.inf:
        return Box(np.full_like(low, -np.inf), np.full_like(high, np.inf))
    with np.errstate(over="ignore", invalid="ignore"):
        widen = margin * (high - low)
        low, high = low - widen, high + widen
        too_wide = np.flatnonzero(~np.isfinite(high - low))
    if too_wide.size:
        label = source.schema.label(too_wide[0])
        raise DataError(f"{who}: column {label} has a range too large for float64. Rescale it.")
    return Box(low, high)


def _require_width(source: InMemory, low: Array, high: Array, who: str) -> None:
    if source.n_rows == 1:
        raise DataError(
            f"{who}: one sample (n_samples=1) has no volume, so it has no density. Use more rows, "
            "or set the range of each column with bounds=[(low, high), ...]."
        )
    flat = np.flatnonzero(low == high)
    if flat.size:
        more = f", and so do {flat.size - 1} more columns" if flat.size > 1 else ""
        raise DataError(
            f"{who}: column {source.schema.label(flat[0])} holds the single value "
            f"{low[flat[0]]:g}{more}; a constant column has no width, so no density exists. Drop "
            "it, or set its range with bounds=[(low, high), ...]."
        )


def _given_box(source: InMemory, bounds: Any, who: str) -> Box:
    ends = numbers(bounds, "bounds", who, finite=False)
    if ends.shape != (source.n_features, 2):
        raise ParameterError(
            f"{who}: bounds has shape {ends.shape}; it needs one (low, high) per column, "
            f"({source.n_features}, 2)."
        )
    low, high = ends[:, 0].copy(), ends[:, 1].copy()
    wrong = np.flatnonzero(~((low < high) & np.isfinite(high - low)))
    if wrong.size:
        j = wrong[0]
        raise ParameterError(
            f"{who}: bounds[{j}] = ({low[j]:g}, {high[j]:g}) must be finite, with low < high. "
            "Use margin=inf for an unbounded box."
        )
    outside = (source.X < low) | (source.X > high)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise DataError(
            f"{who}: {outside.any(axis=1).sum()} of {source.n_rows} rows lie outside the bounds "
            f"(first at row {source.number_of(i)}: column {source.schema.label(j)} is "
            f"{source.X[i, j]:g}, its bounds are {low[j]:g} and {high[j]:g}). "
            "Widen the bounds or drop those rows."
        )
    return Box(low, high)
