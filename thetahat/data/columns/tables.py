"""Tables of pandas, polars, Arrow and NumPy, read by the types their columns declare.

What a column is and holds, in whatever library, its `Variable` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.columns.variables import is_lone_column, variables
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def infer_schema(table: Any) -> Schema:
    """Read names, kinds and categories of the columns of a table from their types.

    Floating point is numeric, integers are discrete, ordered categoricals (polars Enum) are
    ordinal, other categoricals and text are categorical, Booleans are Boolean. The categories
    c₁, ..., c_K come in their declared order; those of text are its distinct values, sorted.
    Cost: O(d), and O(n log n) per text column, whose rows alone are read.

    Parameters
    ----------
    table : pandas, polars or Arrow table or column, or structured NumPy array
        Anything that exports an Arrow stream works too.

    Returns
    -------
    Schema
        One `Column` per column; ``schema.columns[j].kind.task`` names what predicting it is.

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
    """Whether X carries its own column types: pandas, polars, Arrow, or a structured array."""
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    return hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def table_to_numpy(X: Any) -> tuple[Array, Schema]:
    """The numbers of a table, (n, d), or (n,) of a lone column, and what is known of its columns.

    float32 when every column is, else float64; at most one copy; missing values become NaN, so that
    the check for finite numbers names them. Columns that are not numbers are refused by name. The
    schema is empty when the columns are not all named by strings, as in scikit-learn.
    """
    columns = variables(X)
    for column in columns:
        if not column.kind.is_number:
            raise DataError(column.refusal())
    if is_lone_column(X):
        return columns[0].numbers(), Schema()
    named = all(isinstance(column.label, str) for column in columns)
    schema = Schema(tuple(column.describe() for column in columns) if named else ())
    if hasattr(X, "iloc") and len({column.dtype for column in columns}) == 1:
        whole = X.to_numpy()
        if whole.dtype in (np.float32, np.float64):
            return whole, schema
    n_rows = len(columns[0].values) if columns else len(X)
    dtype = np.float32 if all(column.is_single for column in columns) else np.float64
    # Columns arrive contiguous and leave as runs of rows: Fortran order suits both.
    numbers = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
    for place, column in enumerate(columns):
        numbers[:, place] = column.numbers()
    return numbers, schema
