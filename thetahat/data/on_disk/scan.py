"""`scan`: files as a source of rows, with a few blocks in memory at a time."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from thetahat.data.columns.schema import Kind
from thetahat.data.on_disk.arrow import open_arrow
from thetahat.data.on_disk.beside import Beside, beside, whole_type
from thetahat.data.on_disk.choice import Choice, Key, as_list, choose_columns, schema_of
from thetahat.data.on_disk.delimited import open_delimited
from thetahat.data.on_disk.file_source import FileSource
from thetahat.data.on_disk.labels import FileLabels
from thetahat.data.on_disk.location import Location, RemoteFile, is_url, remote_files
from thetahat.data.on_disk.npy import open_npy
from thetahat.data.on_disk.parquet import open_parquet
from thetahat.data.on_disk.reader import NoRowsError, Reader
from thetahat.data.on_disk.several_files import several_files
from thetahat.data.on_disk.stamp import Stamp
from thetahat.data.source import Source
from thetahat.foundation.atomic_file import usable_path
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
_DEFAULT_ENCODING = ("utf-8", "UTF-8", "utf8", "UTF8")
_PACKED = (".gz", ".bz2", ".zst", ".lz4")


def scan(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    target: Key | Sequence[Key] | os.PathLike[str] | Array | None = None,
    weight: Key | os.PathLike[str] | Array | None = None,
    features: Iterable[Key] | None = None,
    columns: Iterable[Key] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
) -> Source:
    """Open a file, or several, which may be larger than memory, as the rows of a fit.

    Only the first rows are read when a file is opened. Each pass of a fit then reads the file
    once, a few blocks of about 4 MiB at a time, so memory does not grow with the number of rows.
    Numbers are checked as they are read. A file that changes or disappears after it was opened is
    an error that names it: open the rows again then.

    The blocks are the same as for an array in memory, and sums over rows are added in the same
    order, so most models have the same coefficients as in memory, bit for bit. With more columns
    than rows, other methods are used in memory, and the coefficients agree up to rounding, or to
    the tolerance of an iterative solver.
    `HuberRegressor` and `LinearSVC` start from a fit to some of the rows if these are in memory,
    so the coefficients agree to the tolerance of the fit. So do those of `LogisticRegression`,
    `LinearSVC` and `LinearModel` with an L1 or elastic net penalty, for which a method that works
    on columns is used in memory, and those of `LogisticRegression` with three and more classes.
    `LassoCV` and `QuadraticDiscriminantAnalysis` agree up to rounding. `SGDClassifier`,
    `SGDRegressor` and `Perceptron` shuffle the rows of a file within each block instead of as a
    whole, so the coefficients differ as they do between two seeds; with ``shuffle=False`` they
    agree up to rounding.

    Histogram gradient boosting and random forests keep the rows as codes of one byte per value, in
    a temporary file if the memory does not suffice. Boosting has the same trees as in memory, bit
    for bit; forests make the splits of ``splits="histogram"``.

    `fit`, `predict`, `score` and `th.evaluate` accept the source in place of X, y and
    sample_weight, and `th.predict_to_file` writes predictions block by block. Models of trees
    accept missing values, and columns of categories or text, whose categories are found by a pass
    over these columns. A column of a text file that would be one of numbers but for a few texts is
    reported by a warning. Models that need all rows at once say so: ``X, y, sample_weight =
    source.arrays()`` loads them.

    Formula: Σᵢ wᵢ ℓ(yᵢ, f(xᵢ)), added up block by block. Cost: O(d) to open, O(n·d) time and
    O(block) memory per pass (for a compressed Arrow file, O(largest record batch)).

    Parameters
    ----------
    path : str or path, or list of them
        The file, or a URL that fsspec opens, such as "s3://bucket/part-*.parquet". Parquet files
        at a URL are read in place, files of other formats are copied once to a temporary folder.
        URLs need ``pip install "thetahat[remote]"``.
        Formats are `.npy` (a 2-D or structured array), text (`.csv`, `.tsv`, also `.csv.gz`),
        `.parquet`, or Arrow (`.arrow`, `.feather`, `.ipc`). All but `.npy` need
        ``pip install "thetahat[table]"``. A pattern such as "part-*.parquet" opens all files that
        match it, in the sorted order of their names, as one table; a list opens its files and
        patterns in the order of the list. They need the same columns in the same order; files
        without rows are left out. Names of folders, such as year=2021, are not columns.
    target : column name or number, list of them, path or array, optional
        The target: a column of the file, a list of columns for several outputs, the path of a
        second `.npy` file, or an array with one entry per row. Column numbers count from 0, or
        from the end if they are negative. A single target may hold labels (text, categories or
        Booleans) for a classifier; one more pass over the file then finds the classes.
    weight : column name or number, path or array, optional
        The row weights: a column of the file, the path of a second `.npy` file, or an array with
        one entry per row.
    features : list of column names or numbers, optional
        The columns of X, in order. By default all columns that are neither target nor weight. Other
        columns are not read.
    columns : list of column names or numbers, optional
        The columns to read: those of X, and the target and the weight if they are listed. An
        alternative to `features`. By default all columns.
    format : {"npy", "csv", "tsv", "parquet", "arrow"}, optional
        The format of the file. By default it follows from the ending of its name.
    delimiter : str, optional
        The character that separates the fields of a text file. By default a tab for `.tsv`. For
        other files it is found from the first lines, among comma, semicolon, tab and "|": the one
        that splits most lines into the same number of fields. If all commas are decimal commas
        between other delimiters, it is the other one.
    header : bool, optional
        Whether the first line of a text file holds column names. By default it must, and a first
        line of numbers raises an error.
    encoding : str, default="utf-8"
        The character encoding of a text file, such as "utf-8" or "latin-1".
    decimal : {".", ","}, optional
        The decimal mark of the numbers in a text file. By default it is a comma if columns of the
        first rows are numbers only with decimal commas and no column has decimal points.
        Otherwise, and always if the fields are separated by commas, it is a point.

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
    options = (format, delimiter, header, encoding, decimal)
    files, name = _named_files(path)
    reader = several_files(name, _with_rows(files, options))
    target_columns, target_beside = _split(target, reader, "target")
    weight_columns, weight_beside = _split(weight, reader, "weight")
    if columns is not None:
        features = _features_among(columns, features, [*target_columns, *weight_columns])
    if len(weight_columns) > 1 or (weight_beside is not None and weight_beside.width):
        raise DataError(f"{reader.path}: weight must be a single column. Name one.")
    is_list = isinstance(target, list | tuple)
    choice = choose_columns(reader, features, target_columns, weight_columns, labels=not is_list)
    source = FileSource(
        reader=reader,
        choice=choice,
        target_beside=target_beside,
        weight_beside=weight_beside,
        n_features=len(choice.features),
        n_outputs=(len(target_columns) if is_list else 0)
        if target_beside is None
        else target_beside.width,
        dtype=np.dtype(reader.dtype(choice.features)),
        schema=schema_of(reader, choice.features),
        has_target=target is not None,
        has_weight=weight is not None,
        **_stored_target(reader, choice, target_beside),
    )
    _require_same_rows(source)
    return source


def _features_among(
    columns: Iterable[Key], features: Iterable[Key] | None, others: Sequence[Key]
) -> list[Key]:
    """The columns of X among the columns to read."""
    if features is not None:
        raise ParameterError(
            "columns and features both name the columns to read. Give one of them: features has "
            "those of X only, columns may also contain the target and the weight."
        )
    return [column for column in as_list(columns, "columns") if column not in others]


def _with_rows(files: Sequence[Location], options: tuple[Any, ...]) -> list[Reader]:
    """Readers of the files; files without rows are left out, unless none has any."""
    readers, empty = [], None
    for file in files:
        try:
            stamp = Stamp.of(file)
            reader = _open(file, *options)
            if reader.path != file:  # the copy of a file at a URL
                stamp = Stamp.of(reader.path)
            readers.append(replace(reader, stamp=stamp))
        except NoRowsError as failure:
            empty = failure
    if not readers:
        assert empty is not None
        raise empty
    return readers


def _stored_target(reader: Reader, choice: Choice, other: Beside | None) -> dict[str, Any]:
    """The type of a target of whole numbers or Booleans, or its labels."""
    if other is not None:
        return {"target_dtype": other.dtype, "labels": other.labels}
    if len(choice.targets) != 1:
        return {}
    (column,) = choice.targets
    field = reader.fields[column]
    if not field.holds_numbers:
        return {"labels": FileLabels(reader, column)}
    is_whole = field.kind in (Kind.DISCRETE, Kind.BOOLEAN)
    return {"target_dtype": whole_type(field.type_name) if is_whole else None}


def _named_files(path: Any) -> tuple[list[Location], Location]:
    """The files of a path, a pattern or a list of them, and what names all of them in messages."""
    if isinstance(path, list | tuple):
        if not path:
            raise DataError("scan: the list of paths is empty. Name at least one file.")
        files = [file for each in path for file in _named_files(each)[0]]
        return files, Path(f"{files[0]} and {len(files) - 1} more")
    if is_url(path):
        return list(remote_files(path)), RemoteFile(path)
    return list(_files(path)), Path(path)


def _files(path: str | os.PathLike[str]) -> list[Path]:
    """The file itself, or all files that match a pattern."""
    pattern = usable_path(path)
    if not glob.has_magic(str(pattern)) or pattern.exists():
        return [_existing(path)]
    found = sorted(Path(file) for file in glob.glob(str(pattern), recursive=True))
    files = [file for file in found if not file.is_dir()]
    _require_all_files(path, found, files)
    if not files:
        raise FileNotFoundError(
            f"No file matches the pattern {str(path)!r}; looked in {pattern.parent}."
        )
    return [_existing(file) for file in files]


def _require_all_files(path: Any, found: list[Path], files: list[Path]) -> None:
    """Refuse a directory that a pattern matches, unless the pattern matches files in it as well."""
    recursive = "**" in Path(path).parts
    covered = {folder for file in files for folder in file.parents}
    for folder in found:
        if folder in covered or not folder.is_dir():
            continue
        if recursive and not any(each.is_file() for each in folder.rglob("*")):
            continue
        suffix = folder.suffix or (files[0].suffix if files else "") or ".parquet"
        raise DataError(
            f"The pattern {str(path)!r} matches {folder}, which is a directory; its files would be "
            f"left out. Name them with a pattern such as {str(folder / ('*' + suffix))!r}, in a "
            "list with the others, or use a pattern that does not match the directory."
        )


def _existing(path: str | os.PathLike[str]) -> Path:
    file = usable_path(path)
    if file.is_dir():
        raise DataError(
            f"{file} is a directory. Name a file in it, or several with a pattern such as "
            f"{str(file / '*.parquet')!r}."
        )
    if file.is_symlink() and not file.exists():
        raise FileNotFoundError(
            f"{str(path)!r} is a link to {os.readlink(file)!r}, which does not exist. Restore that "
            "file, or name another one."
        )
    if not file.exists():
        others = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        near = get_close_matches(file.name, others, n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        where = f"looked in {file.parent.resolve()}" if others else f"there is no {file.parent}"
        raise FileNotFoundError(f"There is no file {str(path)!r}; {where}.{hint}")
    if not file.is_file():
        raise DataError(
            f"{file} is not a regular file but a pipe, a socket or a device, which cannot be read "
            "more than once. Copy its content to a file first."
        )
    with open(file, "rb") as content:
        if not content.read(1):
            raise DataError(f"{file} is empty (0 bytes). Give a file with rows.")
    return file


def _open(
    path: Location,
    format: str | None,
    delimiter: str | None,
    header: bool | None,
    encoding: str,
    decimal: str | None,
) -> Reader:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED]
    kind = format or _FORMATS.get(suffixes[-1] if suffixes else "", "")
    if kind in ("parquet", "arrow", "npy"):
        _require_no_text_options(
            path, kind, delimiter=delimiter, header=header, encoding=encoding, decimal=decimal
        )
    if kind != "npy":
        _require_utf8_name(path)
    if kind == "parquet":
        return open_parquet(path)
    known = kind in _FORMATS.values()
    local = path.copied() if known and isinstance(path, RemoteFile) else Path(str(path))
    match kind:
        case "npy":
            reader = open_npy(local)
            if reader.is_flat:
                raise DataError(
                    f"{path} has shape ({reader.n_rows},), but it must be 2-D (rows and columns). "
                    "Reshape it: array.reshape(-1, 1) for one feature."
                )
            return reader
        case "csv" | "tsv":
            separator = delimiter or ("\t" if kind == "tsv" else None)
            return open_delimited(
                local, delimiter=separator, header=header, encoding=encoding, decimal=decimal
            )
        case "arrow":
            return open_arrow(local)
    endings = ", ".join(_FORMATS)
    if format is not None:
        raise ParameterError(f"format={format!r} must be one of {sorted(set(_FORMATS.values()))}.")
    raise DataError(
        f"{path}: the ending {path.suffix!r} does not name a known format. Known endings are "
        f'{endings}. Pass the format, such as format="csv".'
    )


def _require_utf8_name(path: Location) -> None:
    """Raise an error for a name with other bytes, which Arrow cannot open."""
    try:
        str(path).encode()
    except UnicodeEncodeError as failure:
        raise DataError(
            f"The path {str(path)!r} is not UTF-8, so the file cannot be opened. Rename it."
        ) from failure


def _require_no_text_options(path: Location, kind: str, **options: Any) -> None:
    """Raise an error if an option for text files is given for a file of another format."""
    for name, value in options.items():
        if value is not None and value not in _DEFAULT_ENCODING:
            raise ParameterError(
                f"{name}={value!r} is for text files, but {path} is a file of format {kind!r}. "
                f'Leave {name} out, or pass format="csv" if it is a text file.'
            )


def _split(value: Any, reader: Reader, role: str) -> tuple[list[Key], Beside | None]:
    """Columns of the file, or numbers from another place."""
    if value is None:
        return [], None
    if isinstance(value, list | tuple):
        if not value:
            raise DataError(
                f"{reader.path}: {role}=[] names no column. Name at least one, or leave {role} out."
            )
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
