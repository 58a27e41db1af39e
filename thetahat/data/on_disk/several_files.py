"""Several files of one format with the same columns, read one after the other as one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.variables import Variable
from thetahat.data.on_disk.location import Location
from thetahat.data.on_disk.reader import NO_LABELS, Encodings, Field, Reader
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError


@dataclass(frozen=True)
class SeveralFiles(Reader):
    """The rows of all files in order; ``path`` is the pattern, and rows are counted over all."""

    readers: tuple[Reader, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(path for reader in self.readers for path in reader.files)

    @property
    def infers_types(self) -> bool:
        return self.readers[0].infers_types

    @property
    def origin(self) -> str:
        return f"{self.path.name} (rows are counted over all {len(self.readers)} files)"

    def require_unchanged(self) -> None:
        for reader in self.readers:
            reader.require_unchanged()

    def _count_rows(self) -> int:
        return sum(self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        return [reader.count_rows() for reader in self.readers]

    def part(self, first: int, last: int) -> tuple[Reader, int]:
        ends = list(accumulate(self._counts, initial=0))
        needed = [k for k in range(len(self.readers)) if ends[k] < last and ends[k + 1] > first]
        if not needed:
            return self, 0
        start = ends[needed[0]]
        found = [self.readers[k].part(first - ends[k], last - ends[k]) for k in needed]
        if len(found) == 1:
            reader, skipped = found[0]
            return replace(self, readers=(reader,)), start + skipped
        # Files in the middle are read as a whole.
        readers = (found[0][0], *(self.readers[k] for k in needed[1:-1]), found[-1][0])
        return replace(self, readers=readers), start + found[0][1]

    def _pieces(
        self, columns: Sequence[int], rows: int, encodings: Encodings = NO_LABELS
    ) -> Iterator[NDArray[Any]]:
        dtype = self.dtype(columns)
        for reader in self.readers:
            for piece in reader.pieces(columns, rows, encodings):
                yield piece.astype(dtype, copy=False)

    def _label_pieces(self, column: int, rows: int) -> Iterator[Variable]:
        for reader in self.readers:
            yield from reader.label_pieces(column, rows)

    def _example(self, column: int) -> tuple[int, Any]:
        start = 0
        for reader in self.readers:
            if not reader.fields[column].holds_numbers:
                row, value = reader.example(column)
                return start + row, value
            start += reader.count_rows()
        return self.readers[0].example(column)


def several_files(pattern: Location, readers: Sequence[Reader]) -> Reader:
    """One reader of all files; a single file is read as itself."""
    first = readers[0]
    if len(readers) == 1:
        return first
    for reader in readers[1:]:
        _require_same_names(first, reader)
    columns = zip(*(reader.fields for reader in readers), strict=True)
    fields = tuple(_common(readers, place, column) for place, column in enumerate(columns))
    return SeveralFiles(pattern, fields, first.has_names, tuple(readers))


def _require_same_names(first: Reader, other: Reader) -> None:
    if not first.has_names and not other.has_names:
        expected, found = len(first.fields), len(other.fields)
        if expected != found:
            raise DataError(
                f"{other.path} has {found} columns, but {first.path} has {expected}. All files "
                "need the same columns."
            )
        return
    names, others = ([field.name for field in each.fields] for each in (first, other))
    if names == others:
        return
    missing = [name for name in names if name not in others]
    extra = [name for name in others if name not in names]
    what = (
        f"{other.path} has no column {missing[0]!r}, which {first.path} has"
        if missing
        else f"{other.path} has a column {extra[0]!r}, which {first.path} lacks"
        if extra
        else f"{other.path} has the columns of {first.path} in another order"
    )
    raise DataError(f"{what}. All files need the same columns in the same order.")


def _common(readers: Sequence[Reader], place: int, fields: Sequence[Field]) -> Field:
    """The column of all files: a number if it is one in all of them."""
    name, kinds = fields[0].name, {field.kind for field in fields}
    types = {field.type_name for field in fields}
    if len(types) == 1:
        return fields[0]
    if all(field.holds_numbers for field in fields):
        # Mixed types are read as float64, the type that holds all of them.
        return Field(name, kinds.pop() if len(kinds) == 1 else Kind.NUMERIC, "double")
    if not any(field.holds_numbers for field in fields):
        kind = kinds.pop() if len(kinds) == 1 else None if None in kinds else Kind.CATEGORICAL
        like = next((field for field in fields if field.kind is kind), fields[0])
        return Field(name, kind, like.type_name)
    if readers[0].infers_types and None not in kinds:
        # Numbers in one file may be labels in another.
        return Field(name, Kind.CATEGORICAL, "string")
    odd = next(i for i, each in enumerate(fields) if each.holds_numbers != fields[0].holds_numbers)
    raise DataError(
        f"{readers[odd].path}: column {readers[odd].label(place)} has type "
        f"{fields[odd].type_name}, but in {readers[0].path} it has type {fields[0].type_name}. "
        "Write all files with the same types."
    )
