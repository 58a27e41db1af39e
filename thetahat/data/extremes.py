"""Values whose squares overflow or underflow: invalid columns, and rescaled targets.

Methods that form products of columns turn a column beyond 1e154 into infinity and one below 1e-162
into 0. A linear fit can rescale y by a power of two without loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.columns.schema import Schema
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix

EXTREME = 1e50
"""Targets with a larger maximum than this, or a smaller one than its inverse, are rescaled."""
FAR_OFF = 1e4
"""Columns with a larger maximum than this, or a smaller one than its inverse, are rescaled."""
SMALLEST = 1e-290
"""Sums of squares below this have lost digits."""
SMALLEST_COLUMN = 1e-300
"""Columns below it lose digits to subnormal numbers, and their coefficients may overflow."""
SMALLEST_IN_SQUARES = 1e-150
"""Columns below it vanish in sums of squares, and so in curvatures."""
LARGEST_IN_SQUARES = 1e100
"""Targets beyond it, or below its inverse, vanish or overflow in sums of squares."""


def require_squares_of_rows(source: Source, *, who: str) -> None:
    """Raise an error for columns whose squares overflow or underflow. Cost: one pass, O(n d)."""
    found = list(source.map_blocks(partial(_squares, schema=source.schema, who=who)))
    total, largest = sum(square for square, _ in found), max(entry for _, entry in found)
    if total < SMALLEST and largest > 0:
        raise DataError(
            f"{who}: the columns of X are so small that their squares underflow (up to "
            f"{largest:.2g}). Rescale the columns."
        )


def _squares(block: Block, *, schema: Schema, who: str) -> tuple[float, float]:
    """The sum of squares of a block, and its largest entry where that sum is very small."""
    with np.errstate(over="ignore", under="ignore"):
        entries = block.X if isinstance(block.X, np.ndarray) else block.X.data[None]
        square = float(np.einsum("ij,ij->", entries, entries, dtype=np.float64))
    if not math.isfinite(square):
        dense = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
        column = int(np.argmax(np.max(abs(dense), axis=0)))
        raise DataError(
            f"{who}: Column {schema.label(column)} is so large that its squares "
            f"overflow (up to {np.max(abs(dense[:, column])):.2g}). Rescale the column."
        )
    return square, float(np.max(abs(entries), initial=0.0)) if square < SMALLEST else 0.0


def require_squares_of_target(source: Source, *, who: str) -> None:
    """Raise an error if the squares of the target overflow or underflow. Cost: O(n).

    Rows in files are not read for this alone.
    """
    if not isinstance(source, InMemory):
        return
    largest = float(np.max(np.abs(to_host(source.y)), initial=0.0))
    if largest > 0 and not 1 / LARGEST_IN_SQUARES <= largest <= LARGEST_IN_SQUARES:
        how = "small that its squares under" if largest < 1 else "large that its squares over"
        raise DataError(
            f"{who}: The target y is so {how}flow (up to {largest:.2g}). Rescale it to between "
            f"{1 / LARGEST_IN_SQUARES:g} and {LARGEST_IN_SQUARES:g}."
        )


def require_visible_columns(source: Source, smallest: float = SMALLEST_COLUMN) -> None:
    """Raise an error for columns of numbers that are nearly 0, but not 0. Cost: O(n d)."""
    size = largest_of_columns(source)
    gone = (size > 0) & (size < smallest)
    if gone.any():
        worst = int(np.argmax(gone))
        raise DataError(
            f"Column {source.schema.label(worst)} is so small that its digits are lost (up to "
            f"{size[worst]:.3g}); columns must be 0 or exceed {smallest:g}. Rescale it."
        )


def largest_of_columns(source: Source) -> Array:
    """The largest |x| of each column. Cost: one pass, O(n d)."""
    size = np.zeros(source.n_features)
    for largest in source.map_blocks(_largest_entries):
        size = np.maximum(size, largest)
    return size


def in_type_of_rows(values: Array, dtype: Any, name: str, who: str) -> Array:
    """Values in the type of the rows, which must be able to hold the largest of them."""
    with np.errstate(over="ignore", under="ignore"):
        found = values.astype(dtype)
    largest = float(np.abs(values).max(initial=0.0))
    if largest and not np.finfo(dtype).tiny <= np.abs(found).max() < np.inf:
        largest = math.inf if math.isnan(largest) else largest
        raise DataError(
            f"{who}: {name} holds {largest:.2g}, which is beyond the range of {np.dtype(dtype)}, "
            "the type of X. Rescale the columns, or convert X to float64."
        )
    return found


def squares_in_range(rows: Matrix) -> Matrix:
    """The rows, or multiples of them whose sums of squares float32 can hold. Cost: O(n d)."""
    if rows.dtype == np.float64:
        return rows
    size = float(max(rows.max(), -rows.min()))
    return rows if 1e-12 < size < 1e12 or size == 0 else rows / rows.dtype.type(size)


def in_ordinary_units(source: Source) -> tuple[Source, float]:
    """Rows with X/unit for X, and the unit: a power of two, or 1 unless X is far from 1.

    For gradient methods, for which very large columns beside an intercept of ones are badly
    conditioned. Rows in files stay unchanged. Cost: one pass, O(n d).
    """
    if not isinstance(source, InMemory):
        return source, 1.0
    entries = source.sparse_X.data[None] if source.is_sparse else source.X
    columns = max(source.n_rows * source.n_features, 1)
    size = math.sqrt(float(np.einsum("ij,ij->", entries, entries, dtype=np.float64)) / columns)
    if size == 0 or 1 / FAR_OFF <= size <= FAR_OFF:
        return source, 1.0
    unit = math.ldexp(1.0, math.frexp(size)[1] - 1)
    return replace(source, X=source.X / unit), unit


def target_unit(source: Source) -> float:
    """1, or the power of two next to the largest |y| if that is extreme. Cost: O(n)."""
    largest = _largest_target(source)
    if largest == 0 or 1 / EXTREME <= largest <= EXTREME:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def _largest_target(source: Source) -> float:
    return max(source.map_blocks(_largest_in_block), default=0.0)


def _largest_in_block(block: Block) -> float:
    return float(np.max(abs(to_host(block.targets)), initial=0.0))


def _largest_entries(block: Block) -> Array:
    largest = abs(to_host(block.X)).max(axis=0)
    return largest if isinstance(largest, np.ndarray) else largest.toarray().ravel()
