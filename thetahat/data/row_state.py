"""Arrays with one entry per row that passes over a source read and change.

k-means keeps the label of every row and bounds of its distances. In memory and for files these are
arrays of this process; for rows on a cluster they stay beside the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from thetahat.foundation.types import Array

Rows = dict[str, Array]
"""The entries of some rows, by the names of the arrays."""


class RowState:
    """Arrays by name, with one entry per row of a source."""

    def __init__(self, source: Any, start: dict[str, Any]) -> None:
        self._source = source
        self._arrays = filled(source.n_rows, start)

    def reduce(self, summarise: Callable[..., Any], *params: Any) -> Any:
        """As `Source.reduce`: ``summarise(block, rows, *params)``, which may change the rows."""
        return self._source.reduce(partial(self._of_block, summarise), *params)

    def look(self, summarise: Callable[..., Any], *params: Any) -> Any:
        """The same for a function that only reads the rows."""
        return self.reduce(summarise, *params)

    def values(self, name: str) -> Array:
        """An array of all rows. Cost: O(n) memory."""
        return self._arrays[name]

    def draw(
        self, name: str, chance: Array | None, size: int, random: np.random.Generator
    ) -> Array | None:
        """The numbers of rows, drawn in proportion to an array of numbers ≥ 0 times `chance`.

        None if all numbers are 0.
        """
        values = self._arrays[name]
        limits = np.cumsum(values if chance is None else chance * values)
        if not limits[-1] > 0:
            return None
        drawn = np.searchsorted(limits, random.random(size) * limits[-1], side="right")
        return np.minimum(drawn, len(values) - 1)

    def _of_block(self, summarise: Callable[..., Any], block: Any, *params: Any) -> Any:
        return summarise(block, part_of(self._arrays, block.start, block.n_rows), *params)


class ChangedRowState(RowState):
    """The state of a view: of the rows of its source, whose blocks are changed when read."""

    def __init__(self, state: RowState, change: Callable[..., Any]) -> None:
        self._state, self._change = state, change
        self.values, self.draw = state.values, state.draw  # type: ignore[method-assign]

    def reduce(self, summarise: Callable[..., Any], *params: Any) -> Any:
        return self._state.reduce(partial(of_changed, self._change, summarise), *params)

    def look(self, summarise: Callable[..., Any], *params: Any) -> Any:
        return self._state.look(partial(of_changed, self._change, summarise), *params)


def of_changed(
    change: Callable[..., Any], summarise: Callable[..., Any], block: Any, *params: Any
) -> Any:
    """``summarise`` of the block after the change."""
    return summarise(change(block), *params)


def filled(n_rows: int, start: dict[str, Any]) -> Rows:
    """Arrays of this length; each has the value and the type of its start."""
    return {name: np.full(n_rows, value) for name, value in start.items()}


def part_of(arrays: Rows, start: int, n_rows: int) -> Rows:
    """The entries of some consecutive rows, in the memory of the arrays."""
    return {name: values[start : start + n_rows] for name, values in arrays.items()}
