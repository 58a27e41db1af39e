"""Rows of delimited text (`.csv`, `.tsv`), parsed in blocks of about a megabyte.

The kinds of the columns are inferred from the first block. Numbers are then read as float64
throughout, so a column may begin with integers and have fractions later. Empty fields, NA and NaN
are missing values.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.schema import Kind
from thetahat.data.on_disk.reader import Field, Reader, arrow_fields, arrow_piece, require_rows
from thetahat.data.on_disk.utf8_file import is_utf8, utf8_file
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import

_BLOCK_BYTES = 1 << 20
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Dialect:
    """The format of the text."""

    delimiter: str
    header: bool
    encoding: str
    block_bytes: int = _BLOCK_BYTES
    """Bytes parsed at a time; a line must fit."""


@dataclass(frozen=True)
class DelimitedReader(Reader):
    """A text file with one row per line."""

    dialect: Dialect

    def count_rows(self) -> int:
        first = self.fields[0].name
        with self._batches({first: _pyarrow().binary()}) as batches:
            return sum(int(batch.num_rows) for batch in batches)

    def pieces(self, columns: Sequence[int], rows: int) -> Iterator[NDArray[Any]]:
        number, boolean = _pyarrow().float64(), _pyarrow().bool_()
        chosen = [self.fields[j] for j in columns]
        types = {field.name: boolean if field.kind is Kind.BOOLEAN else number for field in chosen}
        with self._batches(types) as batches:
            for batch in batches:
                yield arrow_piece(batch, list(types), np.float64)

    def example(self, column: int) -> tuple[int, Any]:
        with self._batches() as batches:
            values = next(batches).column(column).to_pylist()
        strange = ((row, value) for row, value in enumerate(values) if not _is_number(value))
        return next(strange, (0, None))

    def _batches(self, types: Mapping[str, Any] | None = None) -> AbstractContextManager[Any]:
        labels = [self.label(column) for column in range(len(self.fields))]
        return _open(self.path, self.dialect, labels, types)


def open_delimited(
    path: Path, *, delimiter: str, header: bool | None, encoding: str
) -> DelimitedReader:
    """Read the names and infer the kinds of the columns."""
    _require_dialect(delimiter, encoding)
    try:
        head = _head(path)
    except OSError as failure:
        raise DataError(f"{path} cannot be decompressed: {failure}. Write it again.") from failure
    if not head.strip():
        raise DataError(f"{path} is empty. Give a file with a header line and at least one row.")
    longest = max(len(line) for line in head.splitlines())
    dialect = Dialect(delimiter, header is not False, encoding, max(_BLOCK_BYTES, 4 * longest))
    with _open(path, dialect) as batches:
        fields = arrow_fields(batches.schema)
        require_rows(path, any(batch.num_rows for batch in batches))
    first_line = head.splitlines()[0].decode(encoding, errors="replace")
    _require_delimiter(path, delimiter, fields, first_line)
    if header is None and all(_is_number(field.name) for field in fields):
        raise DataError(
            f"{path} begins with a line of numbers ({first_line[:40]!r}) where column names are "
            "expected. Pass header=False if it is a row, or header=True if these are names."
        )
    return DelimitedReader(path, fields, has_names=dialect.header, dialect=dialect)


@contextmanager
def _open(
    path: Path, dialect: Dialect, labels: Sequence[str] = (), types: Mapping[str, Any] | None = None
) -> Iterator[Any]:
    """Record batches of the columns with given types; by default all, with inferred types."""
    csv = optional_import("pyarrow.csv", extra="table", purpose="Reading a text file")
    try:
        with (
            _readable(path, dialect.encoding) as place,
            csv.open_csv(
                place,
                read_options=csv.ReadOptions(
                    use_threads=False,
                    block_size=dialect.block_bytes,
                    autogenerate_column_names=not dialect.header,
                ),
                parse_options=csv.ParseOptions(
                    delimiter=dialect.delimiter, newlines_in_values=True
                ),
                convert_options=csv.ConvertOptions(
                    column_types=types, include_columns=None if types is None else list(types)
                ),
            ) as batches,
        ):
            yield batches
    except UnicodeDecodeError as failure:
        raise DataError(
            f"{path} is not {dialect.encoding} text (byte {failure.object[failure.start]:#04x}). "
            'Name its encoding, for example encoding="latin-1", or save it as UTF-8.'
        ) from failure
    except (_pyarrow().ArrowException, OSError) as failure:
        raise DataError(_explain(path, dialect, labels, str(failure))) from failure


@contextmanager
def _readable(path: Path, encoding: str) -> Iterator[str]:
    """The file in UTF-8."""
    if is_utf8(encoding):
        yield str(path)
        return
    with _pyarrow().input_stream(str(path)) as stream, utf8_file(stream, encoding) as decoded:
        yield decoded


def _explain(path: Path, dialect: Dialect, labels: Sequence[str], failure: str) -> str:
    """Arrow's error in our words, with the column by name and the row counted from 0."""
    before = 2 if dialect.header else 1
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", failure, re.DOTALL)
    if ragged:
        row, expected, got, text = ragged.groups()
        return (
            f"{path}: row {int(row) - before} has {got} fields, but {expected} are expected: "
            f"{text[:80]!r}. Complete the row, quote fields that contain {dialect.delimiter!r}, or "
            "pass another delimiter."
        )
    strange = re.search(r"column #(\d+): Row #(\d+): .*invalid value '(.*)'", failure, re.DOTALL)
    if strange and labels:
        column, row, value = strange.groups()
        return (
            f"{path}: column {labels[int(column)]} holds {value!r} at row {int(row) - before}, "
            "which is not a number. Correct it, or leave the column out with features=[...]."
        )
    return f"{path} cannot be read as text delimited by {dialect.delimiter!r}: {failure}."


def _require_dialect(delimiter: str, encoding: str) -> None:
    if len(delimiter) != 1:
        raise ParameterError(f"delimiter={delimiter!r} must be a single character.")
    try:
        codecs.lookup(encoding)
    except LookupError as failure:
        raise ParameterError(f'encoding={encoding!r} is not known. Use "utf-8".') from failure


def _require_delimiter(
    path: Path, delimiter: str, fields: Sequence[Field], first_line: str
) -> None:
    if len(fields) > 1:
        return
    for other in DELIMITERS:
        if other != delimiter and other in first_line:
            raise DataError(
                f"{path} has one column if split at {delimiter!r}, but its first line contains "
                f"{other!r}: {first_line[:80]!r}. Pass delimiter={other!r}."
            )


def _head(path: Path, lines: int = 2, at_most: int = 1 << 26) -> bytes:
    """The first lines, decompressed if necessary."""
    head = b""
    with _pyarrow().input_stream(str(path)) as stream:
        while head.count(b"\n") < lines and len(head) < at_most:
            more = stream.read(1 << 16)
            if not more:
                break
            head += more
    return head


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None
    return True


def _pyarrow() -> Any:
    return optional_import("pyarrow", extra="table", purpose="Reading a text file")
