"""Values whose squares overflow or underflow: invalid columns, and rescaled targets.

Methods that form products of columns turn a column beyond 1e154 into infinity and one below 1e-162
into 0. A linear fit can rescale y by a power of two without loss.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.errors import DataError

EXTREME = 1e50
"""Targets with a larger maximum than this, or a smaller one than its inverse, are rescaled."""
FAR_OFF = 1e4
"""Columns with a larger maximum than this, or a smaller one than its inverse, are rescaled."""
SMALLEST = 1e-290
"""Sums of squares below this have lost digits."""


def require_squares_of_rows(source: Source, *, who: str) -> None:
    """Raise an error for columns whose squares overflow or underflow. Cost: one pass, O(n d)."""
    total, largest = 0.0, 0.0
    for block in source.blocks():
        with np.errstate(over="ignore", under="ignore"):
            entries = block.X if isinstance(block.X, np.ndarray) else block.X.data[None]
            square = float(np.einsum("ij,ij->", entries, entries, dtype=np.float64))
        if not math.isfinite(square):
            dense = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
            column = int(np.argmax(np.max(abs(dense), axis=0)))
            raise DataError(
                f"{who}: Column {source.schema.label(column)} is so large that its squares "
                f"overflow (up to {np.max(abs(dense[:, column])):.2g}). Rescale the column."
            )
        total += square
        if total < SMALLEST:
            largest = max(largest, float(np.max(abs(entries), initial=0.0)))
    if total < SMALLEST and largest > 0:
        raise DataError(
            f"{who}: the columns of X are so small that their squares underflow (up to "
            f"{largest:.2g}). Rescale the columns."
        )


def in_ordinary_units(source: Source) -> tuple[Source, float]:
    """Rows with X/unit for X, and the unit: a power of two, or 1 unless X is far from 1.

    For gradient methods, for which very large columns beside an intercept of ones are badly
    conditioned. Rows in files stay unchanged. Cost: one pass, O(n d).
    """
    if not isinstance(source, InMemory):
        return source, 1.0
    entries = source.X.data[None] if source.is_sparse else source.X
    columns = max(source.n_rows * source.n_features, 1)
    size = math.sqrt(float(np.einsum("ij,ij->", entries, entries, dtype=np.float64)) / columns)
    if size == 0 or 1 / FAR_OFF <= size <= FAR_OFF:
        return source, 1.0
    unit = math.ldexp(1.0, math.frexp(size)[1] - 1)
    return replace(source, X=source.X / unit), unit


def target_unit(source: Source) -> float:
    """1, or the power of two next to the largest |y| if that is extreme. Cost: O(n)."""
    largest = max(
        (float(np.max(abs(np.asarray(block.y)), initial=0.0)) for block in source.blocks()),
        default=0.0,
    )
    if largest == 0 or 1 / EXTREME <= largest <= EXTREME:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)
