"""Arrays with one entry per row, kept by the workers beside the partitions.

A pass makes new arrays from the old ones and never changes those: arrays that are lost with a
worker are computed again from the start, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from thetahat.data.distributed.cluster import computed, kept
from thetahat.data.distributed.partition import blocks_from, merged, packed, unpacked
from thetahat.data.distributed.pieces import dask
from thetahat.data.distributed.tree import tree
from thetahat.data.in_memory import InMemory
from thetahat.data.row_state import Rows, RowState, filled, part_of
from thetahat.foundation.checked_value import well_placed
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

State = tuple[Rows, Any]
"""The arrays of a partition, and the summary of the pass that made them.

Only summaries travel to the task that merges them: arrays may be large. The arrays themselves need
no task of their own, because the next pass takes the pair.
"""


class DaskRowState(RowState):
    """The state of the rows of a Dask collection."""

    def __init__(self, source: Any, start: dict[str, Any]) -> None:
        self._rows = source
        fill = dask("delayed").delayed(_first, pure=False)
        self._parts: Any = [fill(size, start) for size in source.sizes]

    def reduce(self, summarise: Callable[..., Any], *params: Any) -> Any:
        """As `RowState.reduce`, by the workers, which keep the new arrays."""
        pairs = self._rows.tasks(_advanced, packed(summarise, params), self._parts)
        *parts, whole = kept([*pairs, tree([pair[1] for pair in pairs])])
        (found,) = computed([whole])
        self._parts = parts
        return found

    def look(self, summarise: Callable[..., Any], *params: Any) -> Any:
        """As `RowState.look`, by the workers."""
        found = self._rows.tasks(_seen, packed(summarise, params), self._parts)
        return computed([tree(found)])[0]

    def values(self, name: str) -> Array:
        """An array of all rows, on the client."""
        take = dask("delayed").delayed(_array, pure=False)
        return np.concatenate(computed([take(part, name) for part in self._parts]))

    def draw(
        self, name: str, chance: Array | None, size: int, random: np.random.Generator
    ) -> Array | None:
        """As `RowState.draw`: first the partitions by their totals, then the rows within them."""
        work = packed(_limits, (name, chance is not None))
        totals = computed(self._rows.tasks(_total, work, self._parts))
        limits = np.cumsum(totals)
        if not limits[-1] > 0:
            return None
        points = random.random(size) * limits[-1]
        which = np.minimum(np.searchsorted(limits, points, side="right"), len(totals) - 1)
        within = points - np.array([0.0, *accumulate(totals)])[which]
        asked = [within[which == place] for place in range(len(totals))]
        rows = computed(self._rows.tasks(_found, work, self._parts, asked))
        drawn = np.empty(len(points), dtype=np.intp)
        for place, found in enumerate(rows):
            drawn[which == place] = found
        return drawn


def _first(size: int, start: dict[str, Any]) -> State:
    return filled(size, start), None


def _advanced(part: InMemory, start: int, work: bytes, state: State) -> State:
    """The new arrays of a partition, and its summary."""
    new = {name: values.copy() for name, values in state[0].items()}
    return new, _seen(part, start, work, (new, None))


def _seen(part: InMemory, start: int, work: bytes, state: State) -> Any:
    """The summary of a partition and its arrays."""
    arrays = {name: well_placed(values) for name, values in state[0].items()}
    summarise, params = unpacked(work)
    with one_blas_thread():
        return merged(
            *(
                summarise(block, part_of(arrays, block.start - start, block.n_rows), *params)
                for block in blocks_from(part, start)
            )
        )


def _array(state: State, name: str) -> Array:
    return state[0][name]


def _limits(part: InMemory, state: State, name: str, weighted: bool) -> Array:
    arrays, _ = state
    return np.cumsum(arrays[name] * part.row_weights if weighted else arrays[name])


def _total(part: InMemory, start: int, work: bytes, state: State) -> float:
    limits, (name, weighted) = unpacked(work)
    return float(limits(part, state, name, weighted)[-1])


def _found(part: InMemory, start: int, work: bytes, state: State, asked: Array) -> Array:
    limits, (name, weighted) = unpacked(work)
    drawn = np.searchsorted(limits(part, state, name, weighted), asked, side="right")
    return start + np.minimum(drawn, part.n_rows - 1)
