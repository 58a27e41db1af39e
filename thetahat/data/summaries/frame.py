"""A provisional centre and unit for each column of [X, y], so that squares keep their digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.arrays import is_device_array, like, to_host
from thetahat.data.extremes import SMALLEST_COLUMN, require_visible_columns
from thetahat.data.source import Block, Source, kernel_weights
from thetahat.foundation.types import Array

FEWEST_ROWS, MOST_ROWS, ENTRIES = 64, 512, 1 << 17
"""Limits of the rows from which the provisional centre and units are computed, and about how many
entries these have: a rough centre will do, and wide rows have many entries."""


@dataclass(frozen=True)
class Frame:
    """A provisional centre and a power-of-two unit per column, applied to every block."""

    centre: Array
    unit: Array

    @classmethod
    def of(cls, *parts: Array) -> Frame:
        """The frame of some rows, in parts side by side: their mean, and the size of deviations.

        The mean of equal numbers may round to another number; it is clipped to their range.
        """
        centre, unit = np.empty((2, sum(part.shape[1] for part in parts)))
        first = 0
        for part in parts:
            _native.column_frame(part, centre, unit, first)
            first += part.shape[1]
        return cls(centre=centre, unit=unit)


def provisional_frame(source: Source) -> Frame:
    """A frame from the first rows; zero centre for sparse rows, which stay sparse."""
    rows = ENTRIES // max(1, source.n_features)
    first = source.head(min(max(rows, FEWEST_ROWS), MOST_ROWS))
    if first.weight is not None and (used := to_host(first.weight) > 0).any():
        first = first.take(np.flatnonzero(used))  # rows of weight 0 may hold anything
    first = Block(X=to_host(first.X), y=None if first.y is None else to_host(first.y))
    X, d = first.X, first.X.shape[1]
    if isinstance(X, np.ndarray):
        frame = Frame.of(X, *([] if first.y is None else [as_columns(first.y)]))
    else:
        size = np.zeros(d)
        with np.errstate(invalid="ignore"):  # NaN are refused or left out later
            np.maximum.at(size, X.indices, np.abs(X.data))
        frame = Frame.of(np.stack([-size, size]))
        if first.y is not None:
            of_y = Frame.of(as_columns(first.y))
            frame = Frame(
                centre=np.concatenate([frame.centre, of_y.centre]),
                unit=np.concatenate([frame.unit, of_y.unit]),
            )
    if frame.unit[:d].min(initial=1.0) < SMALLEST_COLUMN:
        require_visible_columns(source)
    return frame


def dense_rows(block: Block) -> Array:
    """X of a block as a dense NumPy array, without a copy if it is one."""
    X = to_host(block.X)
    return X if isinstance(X, np.ndarray) else X.toarray()


def packed_block(block: Block, frame: Frame, *, ones: bool = False) -> Array:
    """[X, y] (and a column of ones) as contiguous float64: centred, in units, times √w."""
    if is_device_array(block.X):
        return _packed_on_device(block, frame, ones)
    d = block.X.shape[1]
    y = None if block.y is None else as_columns(block.y)
    width = d + (0 if y is None else y.shape[1])
    packed = np.empty((block.n_rows, width + ones))
    root = np.sqrt(kernel_weights(block.weight))
    dense = dense_rows(block)
    per_unit = 1.0 / frame.unit
    _native.pack_rows(dense, frame.centre[:d], per_unit[:d], root, packed, 0)
    if y is not None:
        _native.pack_rows(y, frame.centre[d:], per_unit[d:], root, packed, d)
    if ones:
        packed[:, width] = root if root.size else 1.0
    return packed


def _packed_on_device(block: Block, frame: Frame, ones: bool) -> Array:
    """The same, in the library and on the device of the block."""
    from array_api_compat import array_namespace

    xp = array_namespace(block.X)
    parts = [block.X] if block.y is None else [block.X, as_columns(block.y)]
    joint = xp.concat([xp.astype(part, xp.float64, copy=False) for part in parts], axis=1)
    centre, unit = (like(part, joint) for part in (frame.centre, frame.unit))
    packed = (joint - centre) / unit
    if ones:
        packed = xp.concat([packed, xp.ones_like(packed[:, :1])], axis=1)
    if block.weight is None:
        return packed
    return packed * xp.sqrt(xp.astype(block.weight, xp.float64))[:, None]


def as_columns(y: Array) -> Array:
    """y with one column for each target."""
    return y if y.ndim == 2 else y[:, None]
