"""Tables of pandas, polars, Arrow and NumPy, read by the types of their columns.

A `Variable` gives the kind and the values of a column, for every library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.columns.variables import (
    is_lone_column,
    kind_of_dtype,
    require_distinct_names,
    variables,
)
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def infer_schema(table: Any) -> Schema:
    """Read names, kinds and categories of the columns of a table from their types.

    Floating point is numeric, integers are discrete, ordered categoricals (polars Enum) are
    ordinal, other categoricals and text are categorical, Booleans are Boolean. The categories
    c₁, ..., c_K are in their declared order; those of text are its distinct values, sorted.
    Cost: O(d), and O(n log n) per text column; other columns are not read.

    Parameters
    ----------
    table : pandas, polars or Arrow table or column, or structured NumPy array
        The table. Any object that exports an Arrow stream is accepted too.

    Returns
    -------
    Schema
        One `Column` per column; ``schema.columns[j].kind.task`` is the task of predicting it.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> people = np.array([(1.7, 3, True)], dtype=[("size", "f8"), ("age", "i8"), ("member", "?")])
    >>> [column.kind.value for column in th.data.infer_schema(people).columns]
    ['numeric', 'discrete', 'boolean']
    """
    return Schema(tuple(column.describe(categories=True) for column in variables(table)))


def is_table(X: Any) -> bool:
    """Whether X has types for its columns: pandas, polars, Arrow, or a structured array."""
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    return hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def table_to_numpy(X: Any) -> tuple[Array, Schema]:
    """The numbers of a table, (n, d), or of a single column, (n,), and the schema.

    float32 if every column is, else float64; at most one copy. Missing values become NaN, so that
    the check for finite numbers reports them. Columns that are not numbers raise an error. The
    schema is empty unless all column names are strings, as in scikit-learn.
    """
    if (plain := plain_frame(X)) is not None:
        return plain
    columns = variables(X)
    for column in columns:
        if not column.kind.is_number:
            raise DataError(column.refusal())
    if is_lone_column(X):
        return columns[0].numbers(), Schema()
    named = all(isinstance(column.label, str) for column in columns)
    schema = Schema(tuple(column.describe() for column in columns) if named else ())
    n_rows = len(columns[0].values) if columns else len(X)
    dtype = np.float32 if all(column.is_single for column in columns) else np.float64
    # Columns are contiguous when read and blocks of rows when used: Fortran order suits both.
    numbers = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
    for place, column in enumerate(columns):
        numbers[:, place] = column.numbers()
    return numbers, schema


def plain_frame(X: Any) -> tuple[Array, Schema] | None:
    """The same for a pandas frame whose columns are all of NumPy's types of numbers, else None.

    Such a frame is converted as a whole: looking at its columns one by one takes longer than most
    predictions.
    """
    if not hasattr(X, "iloc") or is_lone_column(X):
        return None
    require_distinct_names(X)
    types = X.dtypes.to_numpy()
    distinct = set(types)
    if not types.size or any(
        not isinstance(one, np.dtype) or one.kind not in "fiub" for one in distinct
    ):
        return None
    single = distinct == {np.dtype(np.float32)}
    labels = X.columns.tolist()
    columns: tuple[Column, ...] = ()
    if all(isinstance(label, str) for label in labels):
        kinds = {one: kind_of_dtype(one) or Kind.NUMERIC for one in distinct}
        columns = tuple(Column(label, kinds[one]) for label, one in zip(labels, types, strict=True))
    return X.to_numpy(dtype=np.float32 if single else np.float64), Schema(columns)
