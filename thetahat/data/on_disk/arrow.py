"""Rows of an Arrow file (Feather version 2) or stream, one record batch at a time.

The file is memory-mapped, and its pages are released after each piece, so that only the piece is
resident, even if record batches are large. A compressed batch has to be decompressed as a whole;
memory is then bounded by the largest batch.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from thetahat.data.columns.variables import Variable, variables
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


class ArrowReader(Reader):
    """An Arrow IPC file or stream."""

    path: Path

    def _count_rows(self) -> int:
        n_rows = 0
        with _open(self.path) as mapped:
            for batch in mapped.batches:
                n_rows += int(batch.num_rows)
                mapped.release()
        return n_rows

    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        names, dtype = [self.fields[j].name for j in columns], self.dtype(columns)
        labels = {self.fields[j].name: encoding for j, encoding in encodings.items()}
        with _open(self.path) as mapped:
            for batch in mapped.batches:
                for start in range(0, batch.num_rows, rows):
                    yield arrow_piece(batch.slice(start, rows), names, dtype, labels)
                    mapped.release()

    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        name = self.fields[column].name
        with _open(self.path) as mapped:
            for batch in mapped.batches:
                yield variables(batch.column(name))[0]
                mapped.release()

    def _example(self, column: int) -> tuple[int, Any]:
        with _open(self.path) as mapped:
            return arrow_example(mapped.batches, self.fields[column].name)


def open_arrow(path: Path) -> ArrowReader:
    """Read the schema of an Arrow file or stream."""
    with _open(path) as mapped:
        require_rows(path, any(batch.num_rows for batch in mapped.batches))
        return ArrowReader(path=path, fields=arrow_fields(mapped.schema), has_names=True)


class _Mapped(NamedTuple):
    schema: Any
    batches: Iterator[Any]
    release: Callable[[], None]
    """Release the pages read so far; they are read again if needed."""


@contextmanager
def _open(path: Path) -> Iterator[_Mapped]:
    pyarrow = optional_import("pyarrow", extra="table", purpose="Reading an Arrow file")
    ipc = optional_import("pyarrow.ipc", extra="table", purpose="Reading an Arrow file")
    # Without `included_fields`, as Arrow would copy the chosen columns instead of mapping them.
    options = ipc.IpcReadOptions(use_threads=False)
    with open(path, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    is_file = pages[:6] == b"ARROW1"
    try:
        # Without `with`, as Arrow's arrays use the pages until the last array is deleted.
        rows = pyarrow.BufferReader(pyarrow.py_buffer(pages))
        reader = (ipc.open_file if is_file else ipc.open_stream)(rows, options=options)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        yield _Mapped(reader.schema, iter(batches), lambda: _release(pages))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as failure:
        raise DataError(
            f"{path} is not a complete Arrow file ({failure}). Write it again, or pass format=... "
            "if it has another format."
        ) from failure


def _release(pages: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
