"""Some rows of a source, selected by their numbers, as a source of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Protocol, runtime_checkable

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.views import View
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@runtime_checkable
class TakesRows(Protocol):
    """A source that selects rows by their numbers where they are."""

    def take(self, rows: Array) -> Source: ...


@dataclass(frozen=True, kw_only=True)
class RowSubset(Source):
    """Rows by their numbers in ascending order; a number that occurs twice is a row that does.

    Parts of a file that hold none of the rows before the first or after the last are not read where
    the format allows to skip them.
    """

    source: Source
    numbers: Array

    @property
    def n_rows(self) -> int:
        return len(self.numbers)

    @property
    def files(self) -> tuple[str, ...]:
        return self.source.files

    def blocks(self) -> Iterator[Block]:
        start = 0
        for block in self.source.between(int(self.numbers[0]), int(self.numbers[-1]) + 1):
            ends = [block.start, block.start + block.n_rows]
            first, last = np.searchsorted(self.numbers, ends)
            if first == last:
                continue
            part = block.take(self.numbers[first:last] - block.start)
            yield replace(part, start=start)
            start += part.n_rows

    def with_missing(self) -> Source:
        return replace(self, source=self.source.with_missing())

    def with_categories(self) -> Source:
        source = self.source.with_categories()
        return replace(self, source=source, schema=source.schema)

    def targets_only(self) -> Source:
        source = self.source.targets_only()
        return replace(self, source=source, n_features=source.n_features, schema=source.schema)


def target_arrays(source: Source) -> tuple[Array | None, Array | None]:
    """All targets and weights, None where there are none. Cost: one pass, O(n) memory."""
    if isinstance(source, InMemory):
        return source.y, source.weight
    y, weight = zip(*source.targets_only().map_blocks(_target_and_weight), strict=True)
    return (
        np.concatenate([np.asarray(each) for each in y]) if source.has_target else None,
        np.concatenate([np.asarray(each) for each in weight]) if source.has_weight else None,
    )


def _target_and_weight(block: Block) -> tuple[Array | None, Array | None]:
    return block.y, block.weight


def without_weights(source: Source) -> Source:
    """The same rows, all of weight 1."""
    return View.of(source, _unweighted, has_weight=False) if source.has_weight else source


def _unweighted(block: Block) -> Block:
    return replace(block, weight=None)


def some_rows(source: Source, numbers: Array) -> Source:
    """The rows with these numbers, in ascending order; nothing is read."""
    numbers = np.sort(np.asarray(numbers))
    if not numbers.size:
        raise DataError("No row is selected. Select at least one.")
    if _takes_rows(source):
        return _taken(source, numbers)
    facts = {each.name: getattr(source, each.name) for each in fields(Source)}
    return RowSubset(**facts, source=source, numbers=numbers)


def _takes_rows(source: Source) -> bool:
    """Whether rows are selected where they are, also under maps of single rows."""
    while isinstance(source, View) and not source.by_position:
        source = source.source
    return isinstance(source, TakesRows)


def _taken(source: Source, numbers: Array) -> Source:
    if isinstance(source, View):
        return replace(source, source=_taken(source.source, numbers))
    assert isinstance(source, TakesRows)
    return source.take(numbers)
