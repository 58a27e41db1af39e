"""Rows that are not one array in memory: read from a source, or kept as codes of one byte.

Trees need the values of the rows several times: for the bins, for the codes, and for the
predictions of held-out rows. A `RowPieces` yields them as arrays of some rows at a time. Rows can
be selected by their numbers before they are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.bins import Bins
from thetahat.data.row_subset import some_rows
from thetahat.data.source import Block, Source, rows_per_block
from thetahat.foundation.types import Array


class RowPieces(ABC):
    """A matrix of which some rows at a time are in memory."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""

    @abstractmethod
    def pieces(self) -> Iterator[tuple[slice, Array]]:
        """Where some rows are, and their values with NaN for missing ones."""


@dataclass(frozen=True)
class StreamedRows(RowPieces):
    """The rows of a source, read again in each pass."""

    source: Source
    read: Callable[[Array], Array]
    """From the X of a block to the values that a tree uses."""
    n_rows: int
    """Number of rows of the source."""
    numbers: Array | None = None
    """Numbers of the selected rows, ascending; None selects all."""

    @property
    def shape(self) -> tuple[int, int]:
        n_rows = self.n_rows if self.numbers is None else len(self.numbers)
        return n_rows, self.source.n_features

    @property
    def dtype(self) -> Any:
        return self.source.dtype

    def __getitem__(self, rows: Any) -> StreamedRows:
        """Some of the rows, by a slice or ascending numbers; nothing is read."""
        known = np.arange(self.n_rows) if self.numbers is None else self.numbers
        return replace(self, numbers=known[rows])

    def pieces(self) -> Iterator[tuple[slice, Array]]:
        done = 0
        rows_of = self.source if self.numbers is None else some_rows(self.source, self.numbers)
        for block in rows_of.blocks():
            rows = self.read(block.X)
            yield slice(done, done + len(rows)), rows
            done += len(rows)

    def chosen(self, places: Array) -> Array:
        """The rows at ascending places, as one array by columns. Cost: one pass."""
        rows = self[places]
        found = np.empty(rows.shape, dtype=self.dtype, order="F")
        done = 0
        chosen = some_rows(self.source, np.asarray(rows.numbers))
        for values in chosen.map_blocks(partial(_read, self.read)):
            found[done : done + len(values)] = values
            done += len(values)
        return found


def _read(read: Callable[[Array], Array], block: Block) -> Array:
    return read(block.X)


@dataclass(frozen=True)
class BinnedRows(RowPieces):
    """Rows as codes; a value is known up to its bin, which is all that trees on these bins use."""

    codes: Array
    """(n, at least d) (uint8)."""
    bins: Bins

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], self.bins.n_features

    def pieces(self) -> Iterator[tuple[slice, Array]]:
        n, d = self.shape
        step = rows_per_block(d)
        values, columns = self.bins.values_of_codes, np.arange(d)
        for start in range(0, n, step):
            place = slice(start, min(n, start + step))
            yield place, values[columns, self.codes[place, :d]]
