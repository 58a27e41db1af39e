"""A source whose rows are partitions on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from thetahat.data.distributed.cluster import computed, kept, memory_of_all
from thetahat.data.distributed.partition import (
    block_from,
    first_rows,
    packed,
    results_of,
    summary_of,
)
from thetahat.data.distributed.pieces import dask
from thetahat.data.distributed.row_state import DaskRowState
from thetahat.data.distributed.tree import tree
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, S, Source, joined, rows_per_block
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array

SHARED_BYTES = 1 << 16
"""Arguments above this size are sent to each worker once, instead of with each partition."""

TAKEN_SHARE = 0.1
"""Selected rows are kept by the workers if they take at most this share of the workers' memory;
several folds may be selected at a time."""
HEAD_ROWS = 1024
"""Rows that stand for the first block where a part of it is enough."""


@dataclass(frozen=True, kw_only=True)
class DaskSource(Source):
    """Partitions of rows, which stay on the workers.

    A pass runs one task per partition; the summaries are merged in a tree of fixed shape, by the
    workers, and the client receives the last one. The result depends on the partitions alone,
    not on the number of workers or their order, so it is the same bit for bit in every run.

    A copy that is sent to a worker knows the columns, but not the rows.
    """

    parts: tuple[Any, ...]
    """Delayed objects, one checked partition with at least one row each."""
    sizes: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"<DaskSource of {self.n_rows} rows and {self.n_features} columns in "
            f"{len(self.sizes)} partitions>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parts": ()}

    def __copy__(self) -> DaskSource:
        return self

    def __deepcopy__(self, memory: Any) -> DaskSource:
        return self

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> list[int]:
        """The number of the first row of each partition."""
        return list(accumulate(self.sizes[:-1], initial=0))

    def reduce(self, summarise: Callable[..., S], *params: Any) -> S:
        """As `Source.reduce`, by the workers: blocks in order, then the partitions as a tree."""
        found = self.tasks(summary_of, packed(summarise, params))
        (whole,) = computed([tree(found)])
        summary: S = whole
        return summary

    def map_blocks(self, function: Callable[[Block], Any]) -> Iterator[Any]:
        """As `Source.map_blocks`, by the workers; the results come to the client."""
        return chain.from_iterable(computed(self.tasks(results_of, packed(function, ()))))

    def head(self, n_rows: int | None = None) -> Block:
        """The first rows of as many partitions as have them, at most 1,024."""
        left = min(HEAD_ROWS if n_rows is None else n_rows, self.n_rows)
        first = dask("delayed").delayed(first_rows, pure=False)
        tasks = []
        for part, size in zip(self._rows(), self.sizes, strict=True):
            if left > 0:
                tasks.append(first(part, min(left, size)))
            left -= size
        return joined(computed(tasks))

    def take(self, rows: Array) -> DaskSource:
        """The rows with these numbers in ascending order, selected by the workers."""
        bounds = np.searchsorted(rows, [*self.starts, self.n_rows])
        chosen = [place for place, (low, high) in enumerate(pairwise(bounds)) if high > low]
        delayed, starts, parts = dask("delayed").delayed, self.starts, self._rows()
        numbers = kept(
            [
                delayed(rows[bounds[place] : bounds[place + 1]] - starts[place], traverse=False)
                for place in chosen
            ]
        )
        taken = delayed(InMemory.take, pure=False)
        found: Any = [
            taken(parts[place], some) for place, some in zip(chosen, numbers, strict=True)
        ]
        n_bytes = len(rows) * self.n_features * np.dtype(self.dtype).itemsize
        if not self.sparse_blocks and n_bytes <= TAKEN_SHARE * memory_of_all():
            found = kept(found)
        sizes = tuple(int(bounds[place + 1] - bounds[place]) for place in chosen)
        return replace(self, parts=tuple(found), sizes=sizes)

    def row_state(self, **start: Any) -> DaskRowState:
        """As `Source.row_state`; the arrays stay on the workers."""
        return DaskRowState(self, start)

    def blocks(self) -> Iterator[Block]:
        """The blocks, which come to the client one at a time; see `reduce` for passes."""
        one = dask("delayed").delayed(block_from, pure=False)
        rows = rows_per_block(self.n_features)
        for part, start, size in zip(self._rows(), self.starts, self.sizes, strict=True):
            for low in range(0, size, rows):
                (block,) = computed([one(part, start, low, rows)])
                yield block

    def tasks(self, function: Callable[..., Any], work: bytes, *others: Any) -> list[Any]:
        """``function(partition, start, work, ...)`` for every partition, not yet computed.

        ``others`` hold one more argument for each partition.
        """
        delayed = dask("delayed").delayed
        each = delayed(function, pure=False)
        shared = delayed(work, traverse=False) if len(work) > SHARED_BYTES else work
        columns = zip(self._rows(), self.starts, *others, strict=True)
        return [each(part, start, shared, *more) for part, start, *more in columns]

    def _rows(self) -> tuple[Any, ...]:
        if not self.parts:
            raise CapabilityError(
                "The rows of this Dask collection can be read by the client only, but this is a "
                "copy of the source on a worker. Pass the collection itself to the function that "
                "runs there."
            )
        return self.parts
