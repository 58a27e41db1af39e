"""Rows of a Parquet file, decoded one batch at a time.

A row group may hold the whole file, so its columns are read through a small buffer: only one page
per column is in memory, for any number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from thetahat.data.columns.variables import Variable, variables
from thetahat.data.on_disk.location import Location, readable
from thetahat.data.on_disk.reader import (
    NO_LABELS,
    Encodings,
    Reader,
    arrow_example,
    arrow_fields,
    arrow_piece,
    require_rows,
)
from thetahat.foundation.errors import DataError
from thetahat.foundation.optional import optional_import

_BUFFER_BYTES = 1 << 16


@dataclass(frozen=True)
class ParquetReader(Reader):
    """A Parquet file with any row groups and compression."""

    groups: tuple[int, ...] | None = None
    """Numbers of the row groups to read; None reads all."""

    def _count_rows(self) -> int:
        with _open(self.path) as file:
            return sum(_rows_of_groups(file, self.groups))

    def part(self, first: int, last: int) -> tuple[Reader, int]:
        with _open(self.path) as file:
            sizes = _rows_of_groups(file, self.groups)
        known = range(len(sizes)) if self.groups is None else self.groups
        ends = list(accumulate(sizes, initial=0))
        needed = [k for k in range(len(sizes)) if ends[k] < last and ends[k + 1] > first]
        if not needed:
            return self, 0
        return replace(self, groups=tuple(known[k] for k in needed)), ends[needed[0]]

    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        names, dtype = [self.fields[j].name for j in columns], self.dtype(columns)
        labels = {self.fields[j].name: encoding for j, encoding in encodings.items()}
        with _open(self.path) as file:
            for batch in file.iter_batches(
                batch_size=rows, row_groups=self.groups, columns=names, use_threads=False
            ):
                yield arrow_piece(batch, names, dtype, labels)

    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        name = self.fields[column].name
        with _open(self.path) as file:
            for batch in file.iter_batches(
                batch_size=rows, row_groups=self.groups, columns=[name], use_threads=False
            ):
                yield variables(batch.column(name))[0]

    def _example(self, column: int) -> tuple[int, Any]:
        name = self.fields[column].name
        with _open(self.path) as file:
            return arrow_example(file.iter_batches(columns=[name], use_threads=False), name)


def _rows_of_groups(file: Any, groups: Sequence[int] | None) -> list[int]:
    facts = file.metadata
    numbers = range(facts.num_row_groups) if groups is None else groups
    return [int(facts.row_group(number).num_rows) for number in numbers]


def open_parquet(path: Location) -> ParquetReader:
    """Read the footer of a Parquet file."""
    with _open(path) as file:
        require_rows(path, file.metadata.num_rows > 0)
        return ParquetReader(path=path, fields=arrow_fields(file.schema_arrow), has_names=True)


@contextmanager
def _open(path: Location) -> Iterator[Any]:
    parquet = optional_import("pyarrow.parquet", extra="table", purpose="Reading a Parquet file")
    pyarrow = optional_import("pyarrow", extra="table", purpose="Reading a Parquet file")
    try:
        with (
            readable(path) as place,
            parquet.ParquetFile(place, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file,
        ):
            yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as failure:
        raise DataError(
            f"{path} is not a complete Parquet file ({failure}). Write it again, or pass "
            "format=... if it has another format."
        ) from failure
