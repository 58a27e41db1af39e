"""A table with one column replaced by its values at other rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.resampling import take_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def column_labels(X: Any) -> list[Any]:
    """The names of the columns, or their numbers if they have no names."""
    names = getattr(X, "column_names", None)  # first, as `columns` of an Arrow table are values
    names = getattr(X, "columns", None) if names is None else names
    return list(names) if names is not None else list(range(np.shape(X)[1]))


def column_of(X: Any, label: Any) -> Any:
    """The values of one column, in their type."""
    if hasattr(X, "iloc"):
        return X[label]
    if hasattr(X, "get_column"):
        return X.get_column(label)
    if hasattr(X, "column_names"):
        return X.column(label)
    return np.asarray(X)[:, label]


def exchanged(X: Any, label: Any, rows: Array) -> Any:
    """X with row i of one column replaced by the value of row ``rows[i]``; copies that column.

    Only existing values are used, so this works for columns of every type.
    """
    values = take_rows(column_of(X, label), rows)
    if hasattr(X, "iloc"):
        return X.assign(**{label: values.set_axis(X.index)})
    if hasattr(X, "with_columns"):
        return X.with_columns(values.alias(label))
    if hasattr(X, "column_names"):
        return X.set_column(X.column_names.index(label), label, values)
    if not isinstance(X, np.ndarray):
        raise DataError(
            f"A column of a {type(X).__name__} cannot be replaced. Give an array or a table."
        )
    changed = X.copy()
    changed[:, label] = values
    return changed
