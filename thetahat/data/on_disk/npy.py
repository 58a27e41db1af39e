"""Rows of a `.npy` file: a 2-D array, or a 1-D structured array whose fields are the columns.

Blocks are read at their offset, not memory-mapped: the pages of a memory map stay resident as long
as the machine has free memory, and the memory of a fit would grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.variables import ArrayVariable, Variable, kind_of_dtype
from thetahat.data.on_disk.reader import (
    NO_LABELS,
    Encodings,
    Field,
    Reader,
    codes_of,
    require_rows,
)
from thetahat.foundation.errors import DataError


@dataclass(frozen=True)
class NpyReader(Reader):
    """A `.npy` file in C or Fortran order."""

    path: Path
    n_rows: int
    row_type: np.dtype[Any]
    """Type of an entry of the 2-D array, or of a record."""
    offset: int
    """Bytes before the first entry."""
    by_columns: bool
    """Whether the array is in Fortran order, so that columns are contiguous."""
    is_flat: bool
    """Whether the file holds a 1-D array, used as one column."""

    first_row: int = 0
    """The first row to read."""
    end_row: int | None = None
    """The row before which to end; None reads all."""

    def _count_rows(self) -> int:
        return len(self._numbers_of_rows)

    @property
    def _numbers_of_rows(self) -> range:
        return range(self.first_row, self.n_rows if self.end_row is None else self.end_row)

    def part(self, first: int, last: int) -> tuple[Reader, int]:
        rows = self._numbers_of_rows[first:last]
        return replace(self, first_row=rows.start, end_row=rows.stop), first

    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        dtype = self.dtype(columns)
        with open(self.path, "rb") as file:
            for start in self._numbers_of_rows[::rows]:
                size = min(rows, self._numbers_of_rows.stop - start)
                yield self._read(file, columns, start, size, dtype, encodings)

    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        with open(self.path, "rb") as file:
            for start in range(0, self.n_rows, rows):
                records = self._numbers(file, start, min(rows, self.n_rows - start))
                yield ArrayVariable(None, self._column(records, column))

    def _example(self, column: int) -> tuple[int, Any]:
        with open(self.path, "rb") as file:
            if self.row_type.names is None:
                return 0, self._numbers(file, column, 1)[0].tolist()
            records = self._numbers(file, 0, 1)
            return 0, records[self.fields[column].name][0].tolist()

    def _read(
        self,
        file: Any,
        columns: Sequence[int],
        start: int,
        size: int,
        dtype: Any,
        encodings: Encodings,
    ) -> NDArray[Any]:
        if self.by_columns:
            piece = np.empty((size, len(columns)), dtype=dtype)
            for place, column in enumerate(columns):
                piece[:, place] = self._numbers(file, column * self.n_rows + start, size)
            return piece
        if self.row_type.names is not None or encodings:
            records = self._numbers(file, start, size)
            chosen = [
                codes_of(ArrayVariable(None, self._column(records, column)), encodings[column])
                if column in encodings
                else self._column(records, column)
                for column in columns
            ]
            return np.column_stack(chosen).astype(dtype, copy=False)
        width = len(self.fields)
        whole = self._numbers(file, start * width, size * width).reshape(size, width)
        if list(columns) != list(range(width)):
            whole = whole[:, list(columns)]
        return whole.astype(dtype, order="C", copy=False)

    def _column(self, records: NDArray[Any], column: int) -> NDArray[Any]:
        """A field of records, or a 1-D array itself."""
        return records if self.row_type.names is None else records[self.fields[column].name]

    def _numbers(self, file: Any, first: int, count: int) -> NDArray[Any]:
        file.seek(self.offset + first * self.row_type.itemsize)
        entries = np.fromfile(file, dtype=self.row_type, count=count)
        if entries.size < count:
            raise DataError(f"{self.path} became shorter while it was read.")
        return entries


def open_npy(path: Path) -> NpyReader:
    """Read the header of a `.npy` file; a 1-D array is one column."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise DataError(f"{path} is not a .npy file. Write it with np.save(path, array).")
    try:
        # Maps the file without reading its pages: checks header and length only.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as failure:
        # The header is a Python literal, and parsing a damaged one may raise anything.
        raise DataError(
            f"{path} is damaged, truncated or holds Python objects ({failure}). Write it again "
            "with np.save(path, array), where array is a 2-D array of numbers."
        ) from failure
    if array.ndim not in (1, 2):
        raise DataError(f"{path} has shape {array.shape}, but it must be 2-D (rows and columns).")
    require_rows(path, array.shape[0] > 0)
    names = array.dtype.names
    types = (
        [(str(j), array.dtype) for j in range(1 if array.ndim == 1 else array.shape[1])]
        if names is None
        else [(name, array.dtype[name]) for name in names]
    )
    return NpyReader(
        path=path,
        fields=tuple(Field(name, kind_of_dtype(dtype), dtype.name) for name, dtype in types),
        has_names=names is not None,
        n_rows=int(array.shape[0]),
        row_type=array.dtype,
        offset=int(array.offset),
        by_columns=bool(array.flags.f_contiguous and not array.flags.c_contiguous),
        is_flat=array.ndim == 1 and names is None,
    )
