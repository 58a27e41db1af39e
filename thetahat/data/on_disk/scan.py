"""`scan`: a file as a source of rows, of which a few blocks are in memory at a time."""

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
    """Open a file larger than memory as the rows of a fit: Σᵢ wᵢ ℓ(yᵢ, f(xᵢ)), block by block.

    Opening reads no more than the first rows. Each pass of a fit then reads the file once, a few
    blocks of about 4 MiB at a time, so memory does not grow with the number of rows. The blocks are
    those that the same numbers have in memory, and so are the coefficients, bit for bit. Numbers
    are checked as they are read. Cost: O(d) to open, O(n·d) time and O(block) memory per pass (for
    a compressed Arrow file, O(largest record batch)).

    Parameters
    ----------
    path : str or path
        A `.npy` file (2-D, or structured), text (`.csv`, `.tsv`, also `.csv.gz`), `.parquet`, or
        Arrow (`.arrow`, `.feather`, `.ipc`). All but `.npy` need ``pip install "thetahat[table]"``.
    target : column name or number, list of them, path or array, optional
        The response: a column of the file, a list of columns for several outputs, a second `.npy`
        file, or an array with one entry per row. Numbers count from 0, or from the end if negative.
    weight : column name or number, path or array, optional
        Sample weights, likewise.
    features : list of column names or numbers, optional
        The columns of X in order; by default all that are neither target nor weight.
    format : {"npy", "csv", "tsv", "parquet", "arrow"}, optional
        What the file is, when its name does not say it.
    delimiter : str, optional
        What separates the fields of a text file; by default a comma, for `.tsv` a tab.
    header : bool, optional
        Whether a text file begins with column names. By default it must, and a first line of
        numbers is refused.
    encoding : str
        Of a text file.

    Returns
    -------
    Source
        To be passed to ``fit`` in place of X, y and sample_weight.

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
        raise DataError(f"{reader.path}: one column holds the weights. Name a single one.")
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
            raise DataError(f"{file} is empty (0 bytes). Rows are needed.")
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
                    f"{path} has shape ({reader.n_rows},); rows and columns (2-D) are needed. "
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
        raise ParameterError(f"format={format!r}: must be one of {sorted(set(_FORMATS.values()))}.")
    raise DataError(
        f"{path}: a name ending in {known} says what a file holds; {path.suffix!r} does not. Pass "
        'format="csv", or whatever it is.'
    )


def _split(value: Any, reader: Reader, role: str) -> tuple[list[Key], Beside | None]:
    """Columns of the file, or numbers beside it."""
    if value is None:
        return [], None
    if isinstance(value, list | tuple):
        return list(value), None
    is_path = isinstance(value, os.PathLike) or (
        # Without names, a string can only be the path of a second file.
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
                f"{source.reader.path} has {source.n_rows} rows, {other.origin} has "
                f"{other.n_rows}. Give the {role} one entry per row."
            )
