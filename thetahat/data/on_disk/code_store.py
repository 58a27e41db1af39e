"""Codes of rows that are read from a source: one byte per value, in memory or in a file.

The bins are those that the same rows would have in memory: a first pass reads the rows from which
cut points are computed, a second pass codes all rows. Codes that need more than half of the memory
that may be used are written to a temporary file and mapped. The file has no name, so that the
system removes it when the fit ends, also after an error, an interrupt or the end of the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thetahat.data.bins import (
    MAX_BINS,
    ROW_ALIGNMENT,
    SAMPLE_ROWS,
    Bins,
    sampled_places,
)
from thetahat.data.row_pieces import StreamedRows
from thetahat.foundation.errors import MemoryBudgetError
from thetahat.foundation.memory import available_memory, readable
from thetahat.foundation.types import Array

SHARE_FOR_CODES = 0.5
"""Share of the memory that may be used above which codes are written to a file."""


def bins_of_rows(
    rows: StreamedRows,
    weight: Array | None,
    *,
    max_bins: int = MAX_BINS,
    n_categories: dict[int, int] | None = None,
) -> Bins:
    """The bins of `Bins.learn`, for rows in a source. Cost: one pass over the rows.

    `n_categories` has the number of categories of each categorical column.
    """
    n = rows.shape[0]
    counted = np.arange(n) if weight is None or weight.all() else np.flatnonzero(weight)
    places = counted if len(counted) <= SAMPLE_ROWS else counted[sampled_places(len(counted))]
    sample = rows.chosen(places)
    return Bins.learn(
        sample,
        None if weight is None else weight[places],
        max_bins=max_bins,
        categorical=sorted(n_categories or ()),
        n_categories=n_categories,
    )


def codes_by_row(rows: StreamedRows, bins: Bins) -> Array:
    """The codes of all rows, (n, at least d). Cost: one pass, n·d bytes."""
    n, d = rows.shape
    width = -(-d // ROW_ALIGNMENT) * ROW_ALIGNMENT

    def place(store: _Store) -> None:
        for part, values in rows.pieces():
            codes = bins.codes(values, by_column=False).by_row
            store.write(part.start * width, codes)

    return _stored((n, width), place)


def codes_by_column(rows: StreamedRows, code: Callable[[Array], Array]) -> Array:
    """The codes of all rows, (d, n), where `code` gives those of some rows. Cost: one pass."""
    n, d = rows.shape

    def place(store: _Store) -> None:
        for part, values in rows.pieces():
            for column, codes in enumerate(code(values)):
                store.write(column * n + part.start, codes)

    return _stored((d, n), place)


class _Store:
    """Bytes that are written once, in memory or in a temporary file."""

    def __init__(self, n_bytes: int) -> None:
        self.file: Any = None
        self.held: Array = np.empty(0, dtype=np.uint8)
        if n_bytes <= SHARE_FOR_CODES * available_memory():
            self.held = np.zeros(n_bytes, dtype=np.uint8)
        else:
            self.file = tempfile.TemporaryFile(prefix="thetahat")

    def write(self, start: int, codes: Array) -> None:
        flat = np.ascontiguousarray(codes).reshape(-1)
        if self.file is None:
            self.held[start : start + flat.size] = flat
        else:
            # Not through a map, where a full disk ends the process.
            self.file.seek(start)
            self.file.write(flat)

    def array(self, shape: Sequence[int]) -> Array:
        if self.file is None:
            return self.held.reshape(shape)
        self.file.flush()
        # The map keeps the file after it is closed.
        return np.asarray(np.memmap(self.file, dtype=np.uint8, mode="r", shape=tuple(shape)))


def _stored(shape: tuple[int, int], place: Callable[[_Store], None]) -> Array:
    n_bytes = shape[0] * shape[1]
    store = _Store(n_bytes)
    try:
        place(store)
        return store.array(shape)
    except OSError as failure:
        if store.file is None:
            raise
        raise MemoryBudgetError(
            f"The codes of the rows take {readable(n_bytes)}, too much for the memory, and the "
            f"temporary file in {tempfile.gettempdir()} cannot hold them ({failure}). Set the "
            "environment variable TMPDIR to a folder on a larger disk, or use fewer columns."
        ) from failure
    finally:
        if store.file is not None:
            store.file.close()
