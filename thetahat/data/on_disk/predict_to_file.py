"""`predict_to_file`: predictions for rows that do not fit into memory, written block by block."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from thetahat.data.distributed.pieces import is_dask
from thetahat.data.on_disk.model_rows import accepted, rows_for
from thetahat.data.source import Block, Source
from thetahat.foundation.atomic_file import atomic_file, require_other_file, require_place
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array

Write = Callable[[Array], None]
_NO_RESULTS = re.compile("fit.*|partial_fit|score|set_.*|get_.*|_.*")
"""Names of methods that change the model, or give no result per row."""


def predict_to_file(
    model: Any, source: Source, path: str | os.PathLike[str], *, method: str = "predict"
) -> int:
    """Write the predictions for all rows of a source to a file, a few blocks at a time.

    Formula: ŷᵢ = f(xᵢ), in the order of the rows. Cost: that of one prediction, and O(block)
    memory. The file is written completely or not at all.

    Parameters
    ----------
    model : estimator
        A fitted model whose predictions are written.
    source : Source
        The rows to predict, such as ``th.scan("part-*.parquet")``, with the columns of `fit`. A
        target is not needed.
    path : str or path
        The file to write. Its ending chooses the format: `.npy`, `.csv`, `.parquet`, or Arrow
        (`.arrow`, `.feather`, `.ipc`). An existing file is replaced, unless
        it is one of the files of the source. For a symbolic link it is the file that it names.
    method : str, default="predict"
        The method of the model to call: "predict", "predict_proba", "decision_function",
        "transform" or another that takes rows and returns one row of numbers or one label for each.
        Columns are named after the method and numbered if there are several.

    Returns
    -------
    int
        The number of rows that were written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import thetahat as th
    >>> data = th.datasets.load_longley()
    >>> source = th.scan(data.path, target="TOTEMP")
    >>> model = th.LinearRegression().fit(source)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "predictions.parquet"
    >>> th.predict_to_file(model, source, file)
    16
    >>> th.scan(file).schema.names
    ('predict',)
    """
    _require_source(source, method)
    compute = _method(model, method)
    place = require_place(path)
    require_other_file(place, dict.fromkeys(source.files, "a file of the source"))
    opened = _WRITERS.get(place.suffix.lower())
    if opened is None:
        raise ParameterError(
            f"path={str(path)!r}: the ending {place.suffix!r} does not name a known format. Use "
            f"one of {', '.join(_WRITERS)}."
        )
    source = accepted(model, source)
    rows = rows_for(model, source)

    def predicted(block: Block) -> Array:
        found = compute(rows(block))
        found = found.arrays()[0] if isinstance(found, Source) else found
        return _one_per_row(np.asarray(found), block)

    done = 0
    with ExitStack() as stack:
        write: Write | None = None
        for values in ordered_map(predicted, source.blocks()):
            if write is None:
                write = stack.enter_context(opened(place, method, values, source))
            write(values)
            done += len(values)
    return done


def _require_source(source: Any, method: str) -> None:
    if isinstance(source, Source):
        return
    remedy = (
        "Pass th.from_dask(X)" if is_dask(source) else f"For rows in memory use model.{method}(X)"
    )
    raise DataError(
        f"predict_to_file needs a source, such as th.scan(path), but got "
        f"{type(source).__name__}. {remedy}."
    )


def _method(model: Any, method: str) -> Callable[[Any], Any]:
    """The method of the model, unless it changes the model or gives no result per row."""
    if _NO_RESULTS.fullmatch(method):
        raise ParameterError(
            f"method={method!r} fits or describes the model, but a method is needed that gives one "
            "result per row. Use 'predict', 'predict_proba', 'decision_function' or 'transform'."
        )
    compute: Callable[[Any], Any] | None = getattr(model, method, None)
    if not callable(compute):
        raise ParameterError(
            f"method={method!r}: {type(model).__name__} has no such method. Use 'predict', or "
            "another method that it has."
        )
    return compute


def _one_per_row(values: Array, block: Block) -> Array:
    if values.ndim == 0 or len(values) != block.n_rows:
        raise DataError(
            f"predict_to_file: the method gives an array of shape {values.shape} for "
            f"{block.n_rows} rows, but one row or one label for each is needed. Use another method."
        )
    return values


@contextmanager
def _npy(path: Path, method: str, first: Array, source: Source) -> Iterator[Write]:
    """A `.npy` file, whose header is written first and needs the number of rows."""
    dtype = first.dtype
    if dtype.kind in "OU":
        raise ParameterError(
            f"path={str(path)!r}: labels of text are not written to .npy files, because the "
            "length of the longest is not known before. Use .csv, .parquet or .arrow."
        )
    n_rows, done = source.n_rows, 0
    with atomic_file(path) as file:
        facts = {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": (n_rows, *first.shape[1:]),
        }
        np.lib.format.write_array_header_2_0(file, facts)

        def write(values: Array) -> None:
            nonlocal done
            file.write(np.ascontiguousarray(values, dtype=dtype).tobytes())
            done += len(values)

        yield write
        if done != n_rows:
            raise DataError(
                f"predict_to_file: the source had {n_rows} rows when they were counted, but "
                f"{done} were read, so {path} is not written. Open the rows again with th.scan."
            )


def _table(values: Array, method: str, schema: Any = None) -> Any:
    pyarrow = optional_import("pyarrow", extra="table", purpose="Writing predictions to a table")
    columns = [values] if values.ndim == 1 else list(values.T)
    names = [method] if values.ndim == 1 else [f"{method}_{j}" for j in range(len(columns))]
    arrays = [
        pyarrow.array(each.tolist() if each.dtype.kind in "OU" else np.ascontiguousarray(each))
        for each in columns
    ]
    return pyarrow.table(dict(zip(names, arrays, strict=True)), schema=schema)


def _arrow_writer(
    make: Callable[[BinaryIO, Any], Any],
) -> Callable[[Path, str, Array, Source], Any]:
    """The writer of a format of Arrow, which `make` opens for a file and a schema."""

    @contextmanager
    def opened(path: Path, method: str, first: Array, source: Source) -> Iterator[Write]:
        schema = _table(first[:1], method).schema
        with atomic_file(path) as file, make(file, schema) as writer:

            def write(values: Array) -> None:
                writer.write_table(_table(values, method, schema))

            yield write

    return opened


def _parquet(file: BinaryIO, schema: Any) -> Any:
    module = optional_import("pyarrow.parquet", extra="table", purpose="Writing a Parquet file")
    return module.ParquetWriter(file, schema)


def _csv(file: BinaryIO, schema: Any) -> Any:
    module = optional_import("pyarrow.csv", extra="table", purpose="Writing a text file")
    return module.CSVWriter(file, schema)


def _ipc(file: BinaryIO, schema: Any) -> Any:
    module = optional_import("pyarrow.ipc", extra="table", purpose="Writing an Arrow file")
    return module.new_file(file, schema)


_WRITERS: dict[str, Callable[[Path, str, Array, Source], Any]] = {
    ".npy": _npy,
    ".csv": _arrow_writer(_csv),
    ".parquet": _arrow_writer(_parquet),
    ".arrow": _arrow_writer(_ipc),
    ".feather": _arrow_writer(_ipc),
    ".ipc": _arrow_writer(_ipc),
}
