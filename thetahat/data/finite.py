"""The check that every number is finite, and its error message."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.arrays import is_device_array, to_host
from thetahat.data.columns.schema import Schema
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix

REFUSAL = "This model does not accept them"


def describe_non_finite(value: float, dtype: Any) -> str:
    """ "NaN", or scikit-learn's words for infinity, which users search for."""
    if np.isnan(value):
        return "NaN"
    return f"infinity or a value too large for dtype({np.dtype(dtype).name!r})"


def require_finite_block(
    X: Matrix,
    start: int,
    schema: Schema,
    origin: str = "",
    *,
    role: str = "X",
    missing: bool = False,
    refusal: str = REFUSAL,
) -> None:
    """Raise an error for NaN and infinity in rows of X, with column, row, value and remedy.

    With `missing`, NaN marks a missing value and is accepted. Rows with an `origin` are a part of
    those of a file or of a cluster: the values in the others are not counted. `refusal` says who
    does not accept the values.
    """
    if is_device_array(X):
        if bool((X - X == 0).all()):
            return
        X = to_host(X)
    values = X if isinstance(X, np.ndarray) else X.data
    # The sum is finite unless an entry is not, or the sum overflows; look closer only then.
    with np.errstate(over="ignore", invalid="ignore"):
        total = (np.nansum if missing else np.sum)(values, dtype=np.float64)
        if np.isfinite(total):
            return
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    if missing:
        dense = np.where(np.isnan(dense), 0.0, dense)
    rows, columns = np.nonzero(~np.isfinite(dense))
    if not rows.size:
        row, column = (int(at) for at in np.unravel_index(np.argmax(abs(dense)), dense.shape))
        raise DataError(
            f"Input {role} is so large that sums over rows overflow: "
            f"{_named(column, dense, schema, origin, role)} holds {dense[row, column]:.3g} at row "
            f"{start + row}. "
            "Divide the column by its size, or replace the value if it stands for a missing one."
        )
    row, column = int(rows[0]), int(columns[0])
    remedy = (
        f"{refusal}: {_remedy(dense[row, column])}, or drop those rows."
        if role == "X"
        else "Drop those rows or replace their values."
    )
    raise DataError(
        f"Input {role} contains {describe_non_finite(dense[row, column], dense.dtype)}: "
        f"{_named(column, dense, schema, origin, role)} holds "
        + (
            f"such a value at row {start + row}; other rows may too"
            if origin
            else _counted(columns, column, start + row)
        )
        + f". {remedy}"
    )


def require_finite_pairs(X: Any) -> None:
    """Raise an error for NaN and infinity in a matrix with one number per pair of rows."""
    values = np.asarray(X.data if hasattr(X, "indptr") else X)
    if values.dtype.kind != "f" or values.ndim > 2 or np.isfinite(values).all():
        return
    dense = X.toarray() if hasattr(X, "indptr") else values
    places = np.argwhere(~np.isfinite(dense))
    row, column = (int(at) for at in places[0])
    count = len(places)
    raise DataError(
        f"Input X contains {describe_non_finite(dense[row, column], dense.dtype)}: {count} of the "
        f"{dense.size} entries of the precomputed matrix {'is' if count == 1 else 'are'} not "
        f"finite (first at row {row}, column {column}). Every pair of rows needs a number: compute "
        "the missing ones, or leave out both the row and the column of the rows that lack them."
    )


def _counted(columns: Array, column: int, row: int) -> str:
    """How many values one column holds, given the columns of all values, and others that do."""
    count, others = int((columns == column).sum()), np.unique(columns).size - 1
    return f"{count} such value{'s' if count > 1 else ''} (first at row {row})" + (
        f", and {others} other column{'s' if others > 1 else ''} too" if others else ""
    )


def _named(column: int, values: Matrix, schema: Schema, origin: str, role: str) -> str:
    """A column by its name or number; targets and weights without names as such."""
    place = f" of {origin}" if origin else ""
    if role == "X" or schema.columns:
        return f"column {schema.label(column)}{place}"
    beside = "the target" if role == "y" else "the weight"
    return f"{beside}{place}" if values.shape[1] == 1 else f"column {column} of {beside}{place}"


def _remedy(value: float) -> str:
    if np.isnan(value):
        return "impute first, for example with sklearn.impute.SimpleImputer"
    return "find their cause (such as a division by 0 or a logarithm of 0) and replace them"
