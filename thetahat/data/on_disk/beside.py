"""Targets and weights that are not columns of the scanned file: an array, or a second file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.on_disk.npy import open_npy
from thetahat.data.on_disk.reader import Reader
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

    def walk(self, rows: int) -> Iterator[NDArray[Any]]:
        """The numbers in steps of `rows` rows, each of shape (m,) or (m, width)."""
        if isinstance(self.values, Reader):
            for piece in self.values.pieces(range(max(1, self.width)), rows):
                yield piece if self.width else piece[:, 0]
        else:
            for start in range(0, self.n_rows, rows):
                yield self.values[start : start + rows]


def beside(values: Any, role: str) -> Beside:
    """Open a `.npy` file, or use an array."""
    if isinstance(values, str | os.PathLike):
        reader = open_npy(Path(values))
        if not all(field.kind is not None and field.kind.is_number for field in reader.fields):
            raise DataError(
                f"{reader.path}: {role} holds {reader.row_type}, but it must hold numbers."
            )
        width = 0 if reader.is_flat else len(reader.fields)
        return Beside(reader, reader.n_rows, width, reader.path.name)
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        raise DataError(
            f"{role} has shape {array.shape} and dtype {array.dtype}. Give one number per row, "
            "(n,), or several, (n, k)."
        )
    return Beside(array, array.shape[0], 0 if array.ndim == 1 else array.shape[1], f"the {role}")
