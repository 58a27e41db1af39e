"""Labels of a target on disk: their classes, and an example for error messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.schema import Kind
from thetahat.data.columns.variables import sorted_distinct
from thetahat.data.on_disk.reader import Reader
from thetahat.data.on_disk.text_format import is_number
from thetahat.foundation.cached import cached_property
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

_ROWS = 1 << 14
_MOSTLY = 0.9
"""Share of numbers among the distinct texts of a column from which it seems one of numbers."""


@dataclass(frozen=True)
class KnownLabels:
    """Labels whose classes are known."""

    encoding: LabelEncoding
    description: str


@dataclass(frozen=True)
class Categories:
    """The categories of a column of features, and their codes 0, 1, …."""

    values: tuple[Any, ...]

    @classmethod
    def of(cls, reader: Reader, column: int) -> Categories:
        """Those of a column: ordered ones as declared, others sorted. Cost: a pass over it."""
        found: dict[Any, None] = {}
        is_ordered = reader.fields[column].kind is Kind.ORDINAL
        for piece in reader.label_pieces(column, _ROWS):
            values, which = piece.distinct()
            declared = piece.categories if is_ordered else None
            found.update(dict.fromkeys(declared or [values[k] for k in np.unique(which) if k >= 0]))
        if reader.infers_types:
            _warn_of_numbers(reader, column, found, "categories")
        return cls(tuple(found) if is_ordered else sorted_distinct(list(found)))

    def encode(self, labels: Sequence[Any]) -> Array:
        place = {value: code for code, value in enumerate(self.values)}
        return np.array([place[label] for label in labels], dtype=np.float64)


@dataclass(frozen=True)
class FileLabels:
    """A column of labels; one pass over the file finds its classes when they are needed."""

    reader: Reader
    column: int

    @cached_property
    def encoding(self) -> LabelEncoding:
        """The distinct labels in ascending order. Cost: O(n) time, O(classes) memory."""
        classes: dict[Any, None] = {}
        start = 0
        for piece in self.reader.label_pieces(self.column, _ROWS):
            labels, which = piece.distinct()
            missing = np.flatnonzero(which < 0)
            if missing.size:
                name = self._name[0].upper() + self._name[1:]
                raise DataError(
                    f"{name} of {self.reader.origin} holds no label at row "
                    f"{start + missing[0]}, but every row needs one. Drop such rows, or give "
                    "missing labels a class of their own."
                )
            classes.update(dict.fromkeys(labels[place] for place in np.unique(which)))
            start += len(which)
        found: Any = list(classes)
        if self.reader.infers_types:
            _warn_of_numbers(self.reader, self.column, found, "labels")
        return LabelEncoding.of(found)

    @property
    def description(self) -> str:
        """The column, its kind and an example, for error messages."""
        row, value = self.reader.example(self.column)
        kind = self.reader.fields[self.column].kind
        what = "" if kind is None else kind.value
        return f"{self._name} of {self.reader.path} is {what} (row {row} holds {value!r})"

    @property
    def _name(self) -> str:
        return f"column {self.reader.label(self.column)}"


def _warn_of_numbers(reader: Reader, column: int, texts: Collection[Any], read_as: str) -> None:
    """Warn if nearly all texts are numbers, so that the others may be misread cells."""
    strange = [text for text in texts if not any(is_number(str(text), mark) for mark in ".,")]
    n_numbers = len(texts) - len(strange)
    if strange and n_numbers >= _MOSTLY * len(texts):
        warn(
            f"{reader.path}: column {reader.label(column)} is read as {read_as}, because "
            f"{strange[0]!r} is not a number, but {n_numbers} of its {len(texts)} distinct texts "
            "are. Leave the field empty or write NA in the file if the value is missing, correct "
            "it otherwise, or leave the column out.",
            UserWarning,
        )
