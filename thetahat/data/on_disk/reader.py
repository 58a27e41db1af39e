"""The interface of a file format: its columns, its number of rows, its numbers in pieces.

There is one reader per format (`npy`, `delimited`, `parquet`, `arrow`). A reader has no open file
between calls, so a source can be sent to another process and read by several threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.variables import Variable, arrow_kind, arrow_numbers, variables
from thetahat.data.on_disk.location import Location
from thetahat.data.on_disk.stamp import Stamp
from thetahat.foundation.errors import DataError


class Encoding(Protocol):
    """Labels or categories, and their codes."""

    def encode(self, labels: Any) -> NDArray[Any]: ...


Encodings = Mapping[int, Encoding]
"""The encodings of columns of labels, by the numbers of the columns."""
NO_LABELS: Encodings = {}
OTHER_TEXT = "text in another encoding"
"""The type of a column of a text file that holds bytes which are not UTF-8."""


@dataclass(frozen=True)
class Field:
    """One column of a file."""

    name: str
    kind: Kind | None
    """None for dates, lists and other unsupported types."""
    type_name: str
    """Its type, as the format names it."""
    is_index: bool = False
    """Whether it is the index of a table that pandas or Dask wrote, which has no features."""

    @property
    def is_single(self) -> bool:
        """Whether it holds 32-bit floating point."""
        return self.type_name in ("float", "float32")

    @property
    def holds_numbers(self) -> bool:
        """Whether its values are used as numbers."""
        return self.kind is not None and self.kind.is_number


@dataclass(frozen=True)
class Reader(ABC):
    """A file with known columns, whose rows are still on disk."""

    path: Location
    fields: tuple[Field, ...]
    has_names: bool

    _: KW_ONLY
    stamp: Stamp | None = None
    """The file as it was when it was opened; None if that is not known."""

    def require_unchanged(self) -> None:
        """Raise an error if the file was changed or removed after it was opened. Cost: O(1)."""
        if self.stamp is not None:
            self.stamp.require_same(self.path)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Check the file before and after some work, and also if the work fails."""
        self.require_unchanged()
        try:
            yield
        except Exception:
            self.require_unchanged()
            raise
        self.require_unchanged()

    def count_rows(self) -> int:
        """The number of rows of the file."""
        with self.unchanged():
            return self._count_rows()

    def pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        """The chosen columns as (m, k) arrays of `dtype`; m is `rows` if the format allows it.

        Columns of labels are read as the codes of their `encodings`, with NaN for missing labels.
        """
        with self.unchanged():
            yield from self._pieces(columns, rows, encodings)

    def label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        """The values of one column of labels, in pieces of about `rows` rows."""
        with self.unchanged():
            yield from self._label_pieces(column, rows)

    def example(self, column: int) -> tuple[int, Any]:
        """Row and value of an entry that shows that the column does not hold numbers."""
        with self.unchanged():
            return self._example(column)

    def part(self, first: int, last: int) -> tuple[Reader, int]:
        """A reader of at least the rows from `first` to before `last`, and its first row.

        Rows outside are left out where the format allows to skip them.
        """
        return self, 0

    # What a format defines; the methods above check the file around these.

    @abstractmethod
    def _count_rows(self) -> int: ...

    @abstractmethod
    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]: ...

    @abstractmethod
    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]: ...

    @abstractmethod
    def _example(self, column: int) -> tuple[int, Any]: ...

    @property
    def infers_types(self) -> bool:
        """Whether the file declares no types, so that columns of numbers are found by reading."""
        return False

    @property
    def files(self) -> tuple[str, ...]:
        """The path of the file, or of each of several files."""
        return (str(self.path),)

    @property
    def origin(self) -> str:
        """The name in error messages about single rows."""
        return self.path.name

    def label(self, column: int) -> str:
        """The name or number of a column, for error messages."""
        return repr(self.fields[column].name) if self.has_names else str(column)

    def dtype(self, columns: Sequence[int]) -> type[np.floating[Any]]:
        """float32 if all of the columns are, else float64."""
        return np.float32 if all(self.fields[j].is_single for j in columns) else np.float64


class NoRowsError(DataError):
    """A file has columns but no rows; one of several files may."""


def require_rows(path: Location, there_are_some: bool) -> None:
    """Raise an error when a file without rows is opened."""
    if not there_are_some:
        raise NoRowsError(f"{path} has columns but no rows. Give a file with at least one row.")


def arrow_fields(schema: Any) -> tuple[Field, ...]:
    """The columns of an Arrow schema."""
    indices = (schema.pandas_metadata or {}).get("index_columns", [])
    return tuple(
        Field(entry.name, arrow_kind(entry.type), str(entry.type), entry.name in indices)
        for entry in schema
    )


def arrow_piece(
    batch: Any, names: Sequence[str], dtype: Any, encodings: Mapping[str, Encoding]
) -> NDArray[Any]:
    """The named columns of a record batch as one array."""
    piece = np.empty((batch.num_rows, len(names)), dtype=dtype, order="F")
    for place, name in enumerate(names):
        values = batch.column(name)
        piece[:, place] = (
            codes_of(variables(values)[0], encodings[name])
            if name in encodings
            else arrow_numbers(values)
        )
    return piece


def codes_of(labels: Variable, encoding: Encoding) -> NDArray[np.float64]:
    """The codes of labels as numbers; NaN where a label is missing."""
    distinct, which = labels.distinct()
    codes = np.full(len(distinct) + 1, np.nan)  # the last one, at −1, stands for missing labels
    used = np.unique(which[which >= 0])
    if used.size:
        codes[used] = encoding.encode([distinct[place] for place in used])
    return codes[which]


def arrow_example(batches: Iterable[Any], name: str) -> tuple[int, Any]:
    """Row and value of the first entry of a column that is not missing."""
    start = 0
    for batch in batches:
        for row, value in enumerate(batch.column(name).to_pylist()):
            if value is not None:
                return start + row, value
        start += batch.num_rows
    return 0, None
