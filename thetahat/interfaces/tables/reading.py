"""Tables from files: CSV, TSV, Parquet, Arrow, Excel, or CSV from standard input.

All fields of text files are read as text; the kinds of the columns are then found from all rows
(`columns`), not from the first few. Large files are read in batches of bounded size.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from thetahat.data.on_disk.text_format import find_delimiter
from thetahat.data.on_disk.utf8_file import is_utf8, utf8_file
from thetahat.foundation.atomic_file import usable_path
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.interfaces.tables.gaps import ERRORS, GAPS, without_gaps
from thetahat.interfaces.tables.names import (
    STANDARD_INPUT,
    called,
    named_in_file,
    names_of,
    require_distinct,
    require_supported,
)

SAMPLE = 1 << 16
"""Number of bytes from which delimiter and names are found."""
BATCH = 1 << 18
"""Bytes of a text file in memory at a time, if memory must not grow with the file."""
WHOLE = 1 << 22
"""The same if the whole table is needed."""

_PURPOSE = "Reading tables on the command line"


@dataclass(frozen=True)
class Dialect:
    """The format of a text file."""

    delimiter: str
    encoding: str
    names: tuple[str, ...]
    longest: int
    """Bytes of the longest of the first lines; a line must fit into a batch."""


def read_table(path: str, *, delimiter: str | None = None, encoding: str = "utf-8") -> Any:
    """The whole table as a polars DataFrame; all columns of text files are text."""
    polars = optional_import("polars", extra="app", purpose=_PURPOSE)
    suffix = _suffix(path)
    if suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        table = without_gaps(polars.from_arrow(_arrow_table(path, suffix)))
    elif suffix in (".xlsx", ".xlsm"):
        table = without_gaps(_excel(path))
    else:
        batches = read_batches(path, delimiter=delimiter, encoding=encoding, batch=WHOLE)
        pieces = list(batches)
        table = polars.concat(pieces, rechunk=True) if pieces else polars.DataFrame()
    require_distinct(table.columns, path)
    if not table.height:
        raise DataError(_without_rows(path))
    return table


def read_batches(
    path: str,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    columns: Sequence[str] | None = None,
    batch: int = BATCH,
) -> Iterator[Any]:
    """The table as polars DataFrames; for text files of about `batch` bytes each."""
    polars = optional_import("polars", extra="app", purpose=_PURPOSE)
    suffix = _suffix(path)
    if suffix in (".parquet", ".pq"):
        parquet = optional_import("pyarrow.parquet", extra="app", purpose=_PURPOSE)
        with _explained(path, None), parquet.ParquetFile(path) as file:
            require_distinct(file.schema_arrow.names, path)
            for piece in file.iter_batches(batch_size=1 << 14, columns=_listed(columns)):
                yield without_gaps(polars.from_arrow(piece))
        return
    if suffix in (".arrow", ".feather", ".ipc", ".xlsx", ".xlsm"):
        yield read_table(path) if columns is None else read_table(path).select(columns)
        return
    arrow_csv = optional_import("pyarrow.csv", extra="app", purpose=_PURPOSE)
    import pyarrow

    with _open(path) as stream:
        dialect, stream = _dialect(path, stream, delimiter, encoding)
        require_distinct(names_of(dialect.names), path)
        names = dict(zip(dialect.names, names_of(dialect.names), strict=True))
        with (
            _explained(path, dialect),
            _readable(path, stream, dialect.encoding) as place,
            arrow_csv.open_csv(
                place,
                read_options=arrow_csv.ReadOptions(
                    use_threads=False, block_size=max(batch, 8 * dialect.longest)
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=dialect.delimiter, newlines_in_values=True
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(dialect.names, pyarrow.string()),
                    include_columns=named_in_file(columns, dialect.names),
                    null_values=list(GAPS),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            ) as batches,
        ):
            for piece in batches:
                named = piece.rename_columns([names[each] for each in piece.schema.names])
                yield without_gaps(polars.from_arrow(named))


@contextmanager
def _readable(path: str, stream: Any, encoding: str) -> Iterator[Any]:
    """The text in UTF-8, as a file that Arrow reads without Python."""
    if path != STANDARD_INPUT and is_utf8(encoding):
        import pyarrow

        with pyarrow.OSFile(path) as file:
            yield file
        return
    with utf8_file(stream, encoding) as decoded:
        yield decoded


def column_names(path: str, *, delimiter: str | None = None, encoding: str = "utf-8") -> list[str]:
    """The names of the columns of a file; standard input cannot be read twice."""
    suffix = _suffix(path)
    if suffix in (".parquet", ".pq"):
        parquet = optional_import("pyarrow.parquet", extra="app", purpose=_PURPOSE)
        with _explained(path, None):
            return list(parquet.read_schema(path).names)
    if suffix in (".arrow", ".feather", ".ipc", ".xlsx", ".xlsm"):
        return list(read_table(path).columns)
    with _open(path) as stream:
        return names_of(_dialect(path, stream, delimiter, encoding)[0].names)


def digest_of(path: str) -> str | None:
    """The SHA-256 digest of a file; None for standard input."""
    if path == STANDARD_INPUT:
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _suffix(path: str) -> str:
    if path == STANDARD_INPUT:
        return ".csv"
    usable_path(path)  # refused if no file can have it
    place = Path(path)
    if place.is_dir():
        raise DataError(f"{path} is a directory. Name a file in it.")
    if not place.exists():
        near = sorted(each.name for each in place.parent.glob(f"*{place.suffix}"))[:5]
        hint = f" Existing files: {', '.join(near)}." if near else ""
        raise DataError(f"There is no file {path}.{hint}")
    require_supported(path, place.suffix.lower())
    return place.suffix.lower()


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise DataError("Standard input is closed. Name a file, or pass rows in a pipe.")
        yield sys.stdin.buffer
        return
    try:
        with open(path, "rb") as file:
            yield file
    except PermissionError as failure:
        raise DataError(f"{path} cannot be read: {failure.strerror}.") from failure


def _dialect(
    path: str, stream: BinaryIO, delimiter: str | None, encoding: str
) -> tuple[Dialect, Any]:
    """The format of the text, from its first lines; and the stream, from its beginning."""
    delimiter = _checked_delimiter(delimiter)
    _require_encoding(encoding)
    head = stream.read(SAMPLE)
    while b"\n" not in head and b"\r" not in head:  # the names alone may be long
        more = stream.read(SAMPLE)
        if not more:
            break
        head += more
    if not head.strip():
        raise DataError(
            f"{called(path)} is empty. Give a file with a line of column names, and rows."
        )
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and is_utf8(encoding):
        raise DataError(f"{called(path)} is UTF-16 text. Use --encoding utf-16.")
    if b"\0" in head and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        raise DataError(
            f"{called(path)} is not a text file, as it contains zero bytes. Supported files are "
            "CSV, TSV, Parquet (.parquet), Arrow (.arrow) and Excel (.xlsx), by their ending."
        )
    text = _decoded(path, head, encoding)
    lines = text.splitlines()
    chosen = delimiter or find_delimiter(lines if len(head) < SAMPLE else lines[:-1] or lines)
    names = next(csv.reader(io.StringIO(text, newline=None), delimiter=chosen))
    longest = max(len(line) for line in head.splitlines())
    dialect = Dialect(chosen, encoding, tuple(names), longest)
    return dialect, _Restarted(head, stream)


def _checked_delimiter(delimiter: str | None) -> str | None:
    r"""The delimiter; a tab may be written as the two characters \t."""
    if delimiter == "\\t":
        return "\t"
    if delimiter and (len(delimiter) > 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ParameterError(
            f"--delimiter {delimiter}: must be a single ASCII character that is not a quotation "
            "mark, such as ; or \\t for a tab."
        )
    return delimiter


def _require_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as failure:
        raise ParameterError(
            f"--encoding {encoding} is not a known encoding of text. Use utf-8 or latin-1."
        ) from failure


def _decoded(path: str, head: bytes, encoding: str) -> str:
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    try:
        return decoder.decode(head)
    except UnicodeDecodeError as failure:
        raise DataError(_not_text(path, encoding, failure.start, head[failure.start])) from failure
    except UnicodeError as failure:
        raise DataError(_not_decoded(path, encoding, failure)) from failure


def _not_decoded(path: str, encoding: str, failure: UnicodeError) -> str:
    return (
        f"{called(path)} cannot be read with --encoding {encoding} ({failure}). Name its "
        "encoding, for example --encoding latin-1, or save it as UTF-8."
    )


def _not_text(path: str, encoding: str, place: int, byte: int) -> str:
    return (
        f"{called(path)} is not {encoding} text (byte {byte:#04x} at position {place:,}). Name "
        "its encoding, for example --encoding latin-1, or save it as UTF-8."
    )


class _Restarted(io.RawIOBase):
    """A stream that starts with bytes that were already read from it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head.removeprefix(codecs.BOM_UTF8), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            read = self._rest.read(len(buffer))
            buffer[: len(read)] = read
            return len(read)
        piece, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def _explained(path: str, dialect: Dialect | None) -> Iterator[None]:
    """Convert errors of Arrow to errors that say what to do."""
    import pyarrow

    try:
        yield
    except UnicodeDecodeError as failure:
        encoding = dialect.encoding if dialect else "utf-8"
        raise DataError(
            _not_text(path, encoding, failure.start, failure.object[failure.start])
        ) from failure
    except UnicodeError as failure:
        encoding = dialect.encoding if dialect else "utf-8"
        raise DataError(_not_decoded(path, encoding, failure)) from failure
    except (pyarrow.ArrowException, OSError) as failure:
        message = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
        if "Empty CSV file" in message:
            raise DataError(_without_rows(path)) from failure
        if "invalid UTF8" in message:
            message = f"{called(path)} is not utf-8 text. Name its encoding: --encoding latin-1."
            raise DataError(message) from failure
        ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
        if ragged and dialect is not None:
            row, expected, got = ragged.groups()
            raise DataError(
                f"{called(path)}: line {row} has {got} field{'s' * (got != '1')}, but {expected} "
                f"are expected (fields are separated by {dialect.delimiter!r}). Correct the line, "
                "or set the delimiter with --delimiter."
            ) from failure
        raise DataError(f"{called(path)} cannot be read: {message}") from failure


def _arrow_table(path: str, suffix: str) -> Any:
    with _explained(path, None):
        if suffix in (".parquet", ".pq"):
            parquet = optional_import("pyarrow.parquet", extra="app", purpose=_PURPOSE)
            return parquet.read_table(path)
        feather = optional_import("pyarrow.feather", extra="app", purpose=_PURPOSE)
        return feather.read_table(path)


def _excel(path: str) -> Any:
    """The first sheet, every cell as text."""
    import zipfile

    import polars

    openpyxl = optional_import("openpyxl", extra="app", purpose="Reading an Excel file")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as failure:
        raise DataError(f"{path} is not an Excel file: {failure}.") from failure
    cells = book.worksheets[0].iter_rows(values_only=True)
    rows = [row for row in cells if any(cell is not None for cell in row)]
    book.close()
    if not rows:
        raise DataError(f"The first sheet of {path} is empty. Put the table there.")
    width = max(place for place, cell in enumerate(rows[0]) if cell is not None) + 1
    names = names_of([str(cell) if cell is not None else "" for cell in rows[0][:width]])
    require_distinct(names, path)
    for place, row in enumerate(rows[1:], 1):
        if any(cell is not None for cell in row[width:]):
            raise DataError(
                f"Row {place} of {path} has more cells than there are names of columns. Give every "
                "column a name in the first line, or remove these cells."
            )
    columns = zip(*(_padded(row, width) for row in rows[1:]), strict=True) if rows[1:] else ()
    texts = [[_cell_text(cell) for cell in column] for column in columns] or [[] for _ in names]
    return polars.DataFrame(
        dict(zip(names, texts, strict=True)), schema=dict.fromkeys(names, polars.String)
    )


def _padded(row: Sequence[Any], width: int) -> tuple[Any, ...]:
    return (*row[:width], *(None,) * (width - len(row)))


def _cell_text(cell: Any) -> str | None:
    if cell is None:
        return None
    text = cell.isoformat(sep=" ") if hasattr(cell, "hour") else str(cell)
    return None if text in GAPS or text in ERRORS else text


def _listed(columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else list(columns)


def _without_rows(path: str) -> str:
    return f"{called(path)} has column names but no rows. Give at least one row."
