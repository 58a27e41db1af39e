"""Targets and weights that are not columns of the scanned file: an array, or a second file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.schema import Kind
from thetahat.data.on_disk.labels import FileLabels, KnownLabels
from thetahat.data.on_disk.npy import open_npy
from thetahat.data.on_disk.reader import NO_LABELS, Reader
from thetahat.data.on_disk.stamp import Stamp
from thetahat.data.source import Labels
from thetahat.foundation.errors import DataError


@dataclass(frozen=True)
class Beside:
    """Numbers with one row for each row of the file."""

    values: NDArray[Any] | Reader
    n_rows: int
    width: int
    """Number of columns; 0 if the numbers are 1-D."""
    origin: str
    """The name in error messages."""
    dtype: np.dtype[Any] | None = None
    """The type of whole numbers and Booleans, as they are stored."""
    labels: Labels | None = None
    """The labels, if the numbers are their codes."""

    def walk(self, rows: int) -> Iterator[NDArray[Any]]:
        """The numbers in steps of `rows` rows, each of shape (m,) or (m, width)."""
        if isinstance(self.values, Reader):
            encodings = NO_LABELS if self.labels is None else {0: self.labels.encoding}
            for piece in self.values.pieces(range(max(1, self.width)), rows, encodings):
                yield piece if self.width else piece[:, 0]
        else:
            for start in range(0, self.n_rows, rows):
                yield self.values[start : start + rows]


def beside(values: Any, role: str) -> Beside:
    """Open a `.npy` file, or use an array; a target may hold labels."""
    if isinstance(values, str | os.PathLike):
        return _in_file(Path(values), role)
    array = np.asarray(values)
    origin = "the given array"
    if role == "target" and array.ndim == 1 and array.dtype.kind in "OUST":
        encoding = LabelEncoding.of(array)
        labels = KnownLabels(encoding, f"the target holds labels such as {array[0]!r}")
        return Beside(encoding.encode(array), len(array), 0, origin, labels=labels)
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        raise DataError(
            f"{role} has shape {array.shape} and dtype {array.dtype}. Give one number per row, "
            "(n,), or several, (n, k)."
        )
    width = 0 if array.ndim == 1 else array.shape[1]
    _require_columns(array.shape, role)
    return Beside(array, array.shape[0], width, origin, whole_type(array.dtype))


def _require_columns(shape: tuple[int, ...], role: str) -> None:
    if shape[1:] == (0,):
        raise DataError(
            f"{role} has shape {shape}, without a column. Give one number per row, (n,), or "
            f"leave {role} out."
        )


def whole_type(dtype: Any) -> np.dtype[Any] | None:
    """The type of whole numbers and Booleans; None for all others."""
    return np.dtype(dtype) if np.dtype(dtype).kind in "biu" else None


def _in_file(path: Path, role: str) -> Beside:
    stamp = Stamp.of(path)
    reader = replace(open_npy(path), stamp=stamp)
    width = 0 if reader.is_flat else len(reader.fields)
    _require_columns((reader.n_rows,) if reader.is_flat else (reader.n_rows, width), role)
    origin = reader.path.name
    if role == "target" and reader.is_flat and reader.fields[0].kind is Kind.CATEGORICAL:
        labels = FileLabels(reader, 0)
        return Beside(reader, reader.n_rows, 0, origin, labels=labels)
    if not all(field.holds_numbers for field in reader.fields):
        raise DataError(f"{reader.path}: {role} holds {reader.row_type}, but it must hold numbers.")
    whole = None if reader.row_type.names else whole_type(reader.row_type)
    return Beside(reader, reader.n_rows, width, origin, whole)
