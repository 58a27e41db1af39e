"""`scan`: a file as a source of rows, with a few blocks in memory at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from thetahat.data.on_disk.arrow import open_arrow
from thetahat.data.on_disk.beside import Beside, beside
from thetahat.data.on_disk.choice import Key, choose_columns, schema_of
from thetahat.data.on_disk.delimited import open_delimited
from thetahat.data.on_disk.file_source import FileSource
from thetahat.data.on_disk.npy import open_npy
from thetahat.data.on_disk.parquet import open_parquet
from thetahat.data.on_disk.reader import Reader
from thetahat.data.source import Source
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

_FORMATS = {
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_PACKED = (".gz", ".bz2", ".zst", ".lz4")


def scan(
    path: str | os.PathLike[str],
    *,
    target: Key | Sequence[Key] | os.PathLike[str] | Array | None = None,
    weight: Key | os.PathLike[str] | Array | None = None,
    features: Iterable[Key] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
) -> Source:
    """Open a file, which may be larger than memory, as the rows of a fit.

    Only the first rows are read when the file is opened. Each pass of a fit then reads the file
    once, a few blocks of about 4 MiB at a time, so memory does not grow with the number of rows.
    The blocks are the same as for an array in memory, so the coefficients are the same bit for bit.
    Numbers are checked as they are read.

    Formula: Σᵢ wᵢ ℓ(yᵢ, f(xᵢ)), added up block by block. Cost: O(d) to open, O(n·d) time and
    O(block) memory per pass (for a compressed Arrow file, O(largest record batch)).

    Parameters
    ----------
    path : str or path
        The file: `.npy` (a 2-D or structured array), text (`.csv`, `.tsv`, also `.csv.gz`),
        `.parquet`, or Arrow (`.arrow`, `.feather`, `.ipc`). All but `.npy` need
        ``pip install "thetahat[table]"``.
    target : column name or number, list of them, path or array, optional
        The target: a column of the file, a list of columns for several outputs, the path of a
        second `.npy` file, or an array with one entry per row. Column numbers count from 0, or
        from the end if they are negative.
    weight : column name or number, path or array, optional
        The row weights: a column of the file, the path of a second `.npy` file, or an array with
        one entry per row.
    features : list of column names or numbers, optional
        The columns of X, in order. By default all columns that are neither target nor weight.
    format : {"npy", "csv", "tsv", "parquet", "arrow"}, optional
        The format of the file. By default it follows from the ending of its name.
    delimiter : str, optional
        The character that separates the fields of a text file. By default a comma, or a tab for
        `.tsv`.
    header : bool, optional
        Whether the first line of a text file holds column names. By default it must, and a first
        line of numbers raises an error.
    encoding : str, default="utf-8"
        The character encoding of a text file, such as "utf-8" or "latin-1".

    Returns
    -------
    Source
        Pass it to ``fit`` in place of X, y and sample_weight.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_longley()
    >>> source = th.scan(data.path, target="TOTEMP")
    >>> source.n_rows, source.schema.names
    (16, ('GNPDEFL', 'GNP', 'UNEMP', 'ARMED', 'POP', 'YEAR'))
    """
    reader = _open(_existing(path), format, delimiter, header, encoding)
    target_columns, target_beside = _split(target, reader, "target")
    weight_columns, weight_beside = _split(weight, reader, "weight")
    if len(weight_columns) > 1 or (weight_beside is not None and weight_beside.width):
        raise DataError(f"{reader.path}: weight must be a single column. Name one.")
    several = len(target_columns) if isinstance(target, list | tuple) else 0
    choice = choose_columns(reader, features, target_columns, weight_columns)
    source = FileSource(
        reader=reader,
        choice=choice,
        target_beside=target_beside,
        weight_beside=weight_beside,
        n_features=len(choice.features),
        n_outputs=several if target_beside is None else target_beside.width,
        dtype=np.dtype(reader.dtype(choice.features)),
        schema=schema_of(reader, choice.features),
        has_target=target is not None,
        has_weight=weight is not None,
    )
    _require_same_rows(source)
    return source


def _existing(path: str | os.PathLike[str]) -> Path:
    file = Path(path).expanduser()
    if file.is_dir():
        raise DataError(f"{file} is a directory. Name a file in it.")
    if not file.exists():
        others = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        near = get_close_matches(file.name, others, n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        where = f"looked in {file.parent.resolve()}" if others else f"there is no {file.parent}"
        raise FileNotFoundError(f"There is no file {str(path)!r}; {where}.{hint}")
    with open(file, "rb") as content:
        if not content.read(1):
            raise DataError(f"{file} is empty (0 bytes). Give a file with rows.")
    return file


def _open(
    path: Path, format: str | None, delimiter: str | None, header: bool | None, encoding: str
) -> Reader:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED]
    kind = format or _FORMATS.get(suffixes[-1] if suffixes else "", "")
    match kind:
        case "npy":
            reader = open_npy(path)
            if reader.is_flat:
                raise DataError(
                    f"{path} has shape ({reader.n_rows},), but it must be 2-D (rows and columns). "
                    "Reshape it: array.reshape(-1, 1) for one feature."
                )
            return reader
        case "csv" | "tsv":
            separator = delimiter or ("\t" if kind == "tsv" else ",")
            return open_delimited(path, delimiter=separator, header=header, encoding=encoding)
        case "parquet":
            return open_parquet(path)
        case "arrow":
            return open_arrow(path)
    known = ", ".join(_FORMATS)
    if format is not None:
        raise ParameterError(f"format={format!r} must be one of {sorted(set(_FORMATS.values()))}.")
    raise DataError(
        f"{path}: the ending {path.suffix!r} does not name a known format. Known endings are "
        f'{known}. Pass the format, such as format="csv".'
    )


def _split(value: Any, reader: Reader, role: str) -> tuple[list[Key], Beside | None]:
    """Columns of the file, or numbers from another place."""
    if value is None:
        return [], None
    if isinstance(value, list | tuple):
        return list(value), None
    is_path = isinstance(value, os.PathLike) or (
        # If the columns have no names, a string can only be the path of a second file.
        isinstance(value, str) and not reader.has_names and value.endswith(".npy")
    )
    if is_path:
        return [], beside(_existing(value), role)
    if hasattr(value, "__array__") and np.ndim(value):
        return [], beside(value, role)
    return [value], None


def _require_same_rows(source: FileSource) -> None:
    for role, other in (("target", source.target_beside), ("weight", source.weight_beside)):
        if other is not None and other.n_rows != source.n_rows:
            raise DataError(
                f"{source.reader.path} has {source.n_rows} rows, but {other.origin} has "
                f"{other.n_rows}. Give one {role} per row."
            )
