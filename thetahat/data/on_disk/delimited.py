"""Rows of delimited text (`.csv`, `.tsv`), parsed in blocks of about a megabyte.

The kinds of the columns are inferred from the first block. Numbers are then read as float64
throughout, so a column may begin with integers and have fractions later. Empty fields, NA and NaN
are missing values. The delimiter is found from the first lines. Decimal commas are found from the
first block, unless fields are separated by commas, where "1,234" may be 1234.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.variables import Variable, variables
from thetahat.data.on_disk.reader import (
    NO_LABELS,
    OTHER_TEXT,
    Encodings,
    Field,
    Reader,
    arrow_fields,
    arrow_piece,
    require_rows,
)
from thetahat.data.on_disk.text_format import DELIMITERS, find_delimiter, is_number
from thetahat.data.on_disk.utf8_file import is_utf8, utf8_file
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import

_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""The first bytes of text in these encodings; a mark comes before the marks it begins with."""


@dataclass(frozen=True)
class Dialect:
    """The format of the text."""

    delimiter: str
    header: bool
    encoding: str
    decimal: str = "."
    block_bytes: int = _BLOCK_BYTES
    """Bytes parsed at a time; a line must fit."""


@dataclass(frozen=True)
class DelimitedReader(Reader):
    """A text file with one row per line."""

    path: Path
    dialect: Dialect

    @property
    def infers_types(self) -> bool:
        return True

    def _count_rows(self) -> int:
        first = self.fields[0].name
        with self._batches({first: _pyarrow().binary()}) as batches:
            return sum(int(batch.num_rows) for batch in batches)

    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        number, boolean = _pyarrow().float64(), _pyarrow().bool_()
        text = _pyarrow().string()
        types = {
            self.fields[j].name: text
            if j in encodings
            else boolean
            if self.fields[j].kind is Kind.BOOLEAN
            else number
            for j in columns
        }
        labels = {self.fields[j].name: encoding for j, encoding in encodings.items()}
        with self._batches(types) as batches:
            for batch in batches:
                yield arrow_piece(batch, list(types), np.float64, labels)

    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        name = self.fields[column].name
        with self._batches({name: _pyarrow().string()}) as batches:
            for batch in batches:
                yield variables(batch.column(name))[0]

    def _example(self, column: int) -> tuple[int, Any]:
        with self._batches() as batches:
            values = next(batches).column(column).to_pylist()
        decimal = self.dialect.decimal
        present = [(row, value) for row, value in enumerate(values) if value is not None]
        texts = ((row, value) for row, value in present if isinstance(value, str))
        strange = ((row, text) for row, text in texts if not is_number(text, decimal))
        return next(chain(strange, present), (0, None))

    def _batches(self, types: Mapping[str, Any] | None = None) -> AbstractContextManager[Any]:
        labels = [self.label(column) for column in range(len(self.fields))]
        return _open(self.path, self.dialect, labels, types)


def open_delimited(
    path: Path,
    *,
    delimiter: str | None,
    header: bool | None,
    encoding: str,
    decimal: str | None = None,
) -> DelimitedReader:
    """Find the format, read the names and infer the kinds of the columns."""
    _require_options(delimiter, encoding, decimal)
    try:
        head = _head(path)
    except OSError as failure:
        raise DataError(f"{path} cannot be decompressed: {failure}. Write it again.") from failure
    if not head.strip():
        raise DataError(f"{path} is empty. Give a file with a header line and at least one row.")
    if is_utf8(encoding):
        _require_bytes(path, head)
    lines = head.decode(encoding, errors="replace").splitlines()
    whole = lines[:-1] if len(head) >= _HEAD_BYTES and len(lines) > 1 else lines
    chosen = delimiter or find_delimiter(whole, [d for d in DELIMITERS if d != decimal])
    longest = max(len(line) for line in head.splitlines())
    dialect = Dialect(
        chosen, header is not False, encoding, decimal or ".", max(_BLOCK_BYTES, 4 * longest)
    )
    if decimal is None and chosen != "," and _has_decimal_commas(path, dialect):
        dialect = replace(dialect, decimal=",")
    with _open(path, dialect) as batches:
        fields = tuple(
            replace(field, type_name=OTHER_TEXT) if field.type_name == "binary" else field
            for field in arrow_fields(batches.schema)
        )
        require_rows(path, any(batch.num_rows for batch in batches))
    _require_delimiter(path, chosen, fields, lines[0])
    if header is None and all(is_number(field.name, dialect.decimal) for field in fields):
        raise DataError(
            f"{path} begins with a line of numbers ({lines[0][:40]!r}) where column names are "
            "expected. Pass header=False if it is a row, or header=True if these are names."
        )
    return DelimitedReader(path, fields, has_names=dialect.header, dialect=dialect)


def _require_bytes(path: Path, head: bytes) -> None:
    """Raise an error that names the encoding of text with two or four bytes per character."""
    found = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    for name, first in (("utf-16-be", 0), ("utf-16-le", 1)):
        every_second = head[first::2]  # zeros in text of Latin letters
        if found is None and 2 * every_second.count(0) > len(every_second):
            found = name
    if found is not None:
        raise DataError(
            f"{path} is not utf-8 text: it begins with the bytes {head[:4].hex(' ')}, as "
            f'{found.upper()} does. Pass encoding="{found}", or save it as UTF-8.'
        )


def _has_decimal_commas(path: Path, dialect: Dialect) -> bool:
    """Whether a column of the first block holds numbers only if they have decimal commas.

    If other columns have decimal points, the file is read with points.
    """
    types = []
    for decimal in (".", ","):
        with _open(path, replace(dialect, decimal=decimal)) as batches:
            types.append([str(field.type) for field in batches.schema])
    changes = {pair for pair in zip(*types, strict=True) if pair[0] != pair[1]}
    return changes == {("string", "double")}


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
                    column_types=types,
                    include_columns=None if types is None else list(types),
                    decimal_point=dialect.decimal,
                    strings_can_be_null=True,
                ),
            ) as batches,
        ):
            yield batches
    except UnicodeDecodeError as failure:
        byte = f" (byte {failure.object[failure.start]:#04x})"
        raise DataError(_other_encoding(path, dialect, byte)) from failure
    except UnicodeError as failure:  # no mark of the order of the bytes
        raise DataError(
            f"{path} is not {dialect.encoding} text ({failure}). Name its encoding, for example "
            'encoding="utf-16-le", or save it as UTF-8.'
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
            f"{path}: row {int(row) - before} has {got} field{'s' * (got != '1')}, but {expected} "
            f"are expected: {text[:80]!r}. Complete the row, quote fields that contain "
            f"{dialect.delimiter!r}, or pass another delimiter."
        )
    strange = re.search(r"column #(\d+): Row #(\d+): .*invalid value '(.*)'", failure, re.DOTALL)
    if strange and labels:
        column, row, value = strange.groups()
        return (
            f"{path}: column {labels[int(column)]} holds {value!r} at row {int(row) - before}, "
            "which is not a number. Correct it, or leave the column out with features=[...]."
        )
    if "invalid UTF8" in failure:
        row = re.search(r"Row #(\d+)", failure)
        return _other_encoding(path, dialect, f" (row {int(row.group(1)) - before})" if row else "")
    return f"{path} cannot be read as text delimited by {dialect.delimiter!r}: {failure}."


def _other_encoding(path: Path, dialect: Dialect, where: str) -> str:
    return (
        f"{path} is not {dialect.encoding} text{where}. Name its encoding, for example "
        'encoding="latin-1", or save it as UTF-8.'
    )


def _require_options(delimiter: str | None, encoding: str, decimal: str | None) -> None:
    if delimiter is not None and len(delimiter) != 1:
        raise ParameterError(f"delimiter={delimiter!r} must be a single character.")
    if decimal not in (None, ".", ","):
        raise ParameterError(f"decimal={decimal!r} must be '.' or ','.")
    try:
        b"a".decode(encoding, errors="replace")
    except (LookupError, TypeError, ValueError) as failure:
        raise ParameterError(
            f'encoding={encoding!r} is not known as an encoding of text. Use "utf-8".'
        ) from failure


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
            more = stream.read(_HEAD_BYTES)
            if not more:
                break
            head += more
    return head


def _pyarrow() -> Any:
    return optional_import("pyarrow", extra="table", purpose="Reading a text file")
