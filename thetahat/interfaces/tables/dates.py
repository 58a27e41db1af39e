"""Columns of text that hold dates: their layout, and their values."""

from __future__ import annotations

from typing import Any

import polars as pl

from thetahat.data.columns.date_layouts import (
    DATE_LAYOUTS,
    FOUR_DIGITS,
    LOOKS,
    MONTHS,
    TRIED,
    alike_layouts,
)

DIGITS = "%Y%m%d"
"""The layout of dates without separators."""


def layout_of(present: Any, *, all_of_them: bool = False) -> str:
    """The layout that reads most of the values; "" without values.

    With `all_of_them`, "" as well if the first values are not all dates.
    """
    if not len(present):
        return ""
    first = present.head(TRIED)
    counts = {layout: _n_read(_in_layout(first, layout)) for layout in DATE_LAYOUTS}
    most = max(counts.values())
    best = [layout for layout, count in counts.items() if count == most]
    if all_of_them and most < len(first) and _n_read(dates_in(first, best[0])) < len(first):
        return ""
    if len(best) == 1 or not most:
        return best[0]
    distinct = present.unique(maintain_order=True)
    return max(best, key=lambda layout: _n_read(_in_layout(distinct, layout)))


def dates_in(column: Any, layout: str) -> Any:
    """The dates of a column of text; values that are not dates become missing.

    Values with or without a time of day are read as well, wherever day and month are clear.
    """
    if column.dtype != pl.String:
        return column.cast(pl.Datetime("ms"), strict=False)
    dates = _in_layout(column, layout or DATE_LAYOUTS[0])
    for other in alike_layouts(layout):
        unread = dates.is_null() & column.is_not_null()
        if not unread.any():
            break
        if _n_read(_in_layout(column.filter(unread).head(TRIED), other)):
            dates = dates.fill_null(_in_layout(column, other))
    return dates.alias(column.name)


def are_dates_of_digits(present: Any) -> bool:
    """Whether all values are such as 20240131, which are numbers as well."""
    return bool(present.str.contains(f"^{LOOKS[DIGITS]}$").all())


def _in_layout(column: Any, layout: str) -> Any:
    text = column.str.strip_chars()
    look = f"^{LOOKS[layout]}$" if layout in LOOKS else FOUR_DIGITS
    text = text.set(~text.str.contains(look), None)
    if layout in MONTHS:
        text, layout = "01 " + text, f"%d {layout}"
    dates = text.str.to_datetime(layout, strict=False, time_unit="ms")
    return dates if dates.dtype.time_zone is None else dates.dt.replace_time_zone(None)


def _n_read(values: Any) -> int:
    return len(values) - int(values.null_count())
