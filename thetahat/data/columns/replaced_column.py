"""One column of a table with the values of other rows: what asking a model "what if" takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.resampling import take_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def column_labels(X: Any) -> list[Any]:
    """The names of the columns, or their numbers where they have none."""
    names = getattr(X, "column_names", None)  # before `columns`, by which Arrow means the values
    names = getattr(X, "columns", None) if names is None else names
    return list(names) if names is not None else list(range(np.shape(X)[1]))


def column_of(X: Any, label: Any) -> Any:
    """The values of one column, in the type it has."""
    if hasattr(X, "iloc"):
        return X[label]
    if hasattr(X, "get_column"):
        return X.get_column(label)
    if hasattr(X, "column_names"):
        return X.column(label)
    return np.asarray(X)[:, label]


def exchanged(X: Any, label: Any, rows: Array) -> Any:
    """X in which row i of one column holds the value of row ``rows[i]``; a copy of that column.

    No value is made that was not there, so every type of column can be exchanged.
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
            f"A column of a {type(X).__name__} cannot be exchanged. Give an array or a table."
        )
    changed = X.copy()
    changed[:, label] = values
    return changed
