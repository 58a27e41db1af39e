"""Labels of a target on disk: their classes, and an example for error messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.on_disk.reader import Reader
from thetahat.foundation.errors import DataError

_ROWS = 1 << 14


@dataclass(frozen=True)
class KnownLabels:
    """Labels whose classes are known."""

    encoding: LabelEncoding
    description: str


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
