"""The interface of a file format: its columns, its number of rows, its numbers in pieces.

There is one reader per format (`npy`, `delimited`, `parquet`, `arrow`). A reader has no open file
between calls, so a source can be sent to another process and read by several threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.variables import arrow_kind, arrow_numbers
from thetahat.foundation.errors import DataError


@dataclass(frozen=True)
class Field:
    """One column of a file."""

    name: str
    kind: Kind | None
    """None for dates, lists and other unsupported types."""
    type_name: str
    """Its type, as the format names it."""

    @property
    def is_single(self) -> bool:
        """Whether it holds 32-bit floating point."""
        return self.type_name in ("float", "float32")


@dataclass(frozen=True)
class Reader(ABC):
    """A file with known columns, whose rows are still on disk."""

    path: Path
    fields: tuple[Field, ...]
    has_names: bool

    @abstractmethod
    def count_rows(self) -> int:
        """The number of rows of the file."""

    @abstractmethod
    def pieces(self, columns: Sequence[int], rows: int) -> Iterator[NDArray[Any]]:
        """The chosen columns as (m, k) arrays of `dtype`; m is `rows` if the format allows it."""

    @abstractmethod
    def example(self, column: int) -> tuple[int, Any]:
        """Row and value of an entry that shows that the column does not hold numbers."""

    def label(self, column: int) -> str:
        """The name or number of a column, for error messages."""
        return repr(self.fields[column].name) if self.has_names else str(column)

    def dtype(self, columns: Sequence[int]) -> type[np.floating[Any]]:
        """float32 if all of the columns are, else float64."""
        return np.float32 if all(self.fields[j].is_single for j in columns) else np.float64


def require_rows(path: Path, there_are_some: bool) -> None:
    """Raise an error when a file without rows is opened."""
    if not there_are_some:
        raise DataError(f"{path} has columns but no rows. Give a file with at least one row.")


def arrow_fields(schema: Any) -> tuple[Field, ...]:
    """The columns of an Arrow schema."""
    return tuple(Field(entry.name, arrow_kind(entry.type), str(entry.type)) for entry in schema)


def arrow_piece(batch: Any, names: Sequence[str], dtype: Any) -> NDArray[Any]:
    """The named columns of a record batch as one array."""
    piece = np.empty((batch.num_rows, len(names)), dtype=dtype, order="F")
    for place, name in enumerate(names):
        piece[:, place] = arrow_numbers(batch.column(name))
    return piece


def arrow_example(batches: Iterable[Any], name: str) -> tuple[int, Any]:
    """Row and value of the first entry of a column that is not missing."""
    start = 0
    for batch in batches:
        for row, value in enumerate(batch.column(name).to_pylist()):
            if value is not None:
                return start + row, value
        start += batch.num_rows
    return 0, None
