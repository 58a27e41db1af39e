"""What stands for a missing value in a file."""

from __future__ import annotations

from typing import Any

import polars as pl

GAPS = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#NA",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "NAN",
    "Nan",
    "-nan",
    "-NaN",
    "+nan",
    "+NaN",
    "null",
    "NULL",
    "None",
    "?",
)
"""Text that stands for a missing value."""
ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")
"""What an Excel sheet shows where a formula has no value."""
_WORDS = tuple(gap for gap in GAPS if gap)


def without_gaps(table: Any) -> Any:
    """The table with NaN, and gaps between blanks, as missing values; in one pass."""
    changed = []
    for place, (name, dtype) in enumerate(table.schema.items()):
        column = pl.nth(place)  # names such as * stand for other columns
        if dtype.is_float():
            changed.append(column.fill_nan(None).alias(name))
        elif dtype == pl.String:
            held = column.str.strip_chars().is_in(_WORDS).not_()
            changed.append(pl.when(held).then(column).alias(name))
    return table.with_columns(changed) if changed else table
