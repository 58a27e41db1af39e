"""Types of columns of Parquet and Arrow files that can be read as a kind of column."""

from __future__ import annotations

from typing import Any

import polars as pl

from thetahat.foundation.errors import DataError

WORDS = {"numeric": "numbers", "date": "dates"}


def readable(column: Any, kind: str) -> Any:
    """The column, if its values can be read as this kind; categories become text.

    Dates are no numbers, and numbers are no dates, though both can be converted to each other.
    """
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    number = column.dtype.is_numeric() or column.dtype == pl.Boolean
    day = column.dtype in (pl.Date, pl.Datetime)
    allowed = {"numeric": number, "date": day}.get(kind, number or day or column.dtype == pl.Time)
    if not allowed and column.dtype not in (pl.String, pl.Null):
        raise DataError(
            f"The column {column.name!r} has the type {type_name(column.dtype)}, but must hold "
            f"{WORDS.get(kind, 'text')}. Convert it in the file."
        )
    return column


def truth_as_numbers(column: Any, kind: str) -> Any:
    """Text with truth values only, as CSV files have them, as the numbers 1 and 0.

    A column of truth values is numeric if the training rows came from a Parquet file.
    """
    if kind != "numeric" or column.dtype != pl.String:
        return column
    words = column.str.strip_chars().str.to_lowercase()
    if not words.drop_nulls().len() or not words.drop_nulls().is_in(["true", "false"]).all():
        return column
    return (words == "true").cast(pl.Float64).alias(column.name)


def require_target_type(column: Any) -> None:
    """Refuse a target that is neither a number nor a class."""
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Duration, pl.Object):
        raise DataError(
            f"The target {column.name!r} has the type {type_name(column.dtype)}, but must hold "
            "numbers or classes. Convert it in the file, or name another column."
        )


def type_name(dtype: Any) -> str:
    """A type without its parameters."""
    return str(dtype.base_type())
