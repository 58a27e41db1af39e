"""Columns of text that hold numbers or dates, and columns of mixed kinds."""

from __future__ import annotations

from thetahat.data.columns.quantities import mixed_units
from thetahat.evaluation.findings.finding import Finding, counted, listed
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable

LEAST_SHARE = 0.05


def find_text_numbers(table: CheckedTable) -> list[Finding]:
    """Numbers in text with a unit or another notation, and numbers mixed with words."""
    columns = [*table.columns, *([table.target] if table.target is not None else [])]
    found = [each for each in map(_read, columns) if each is not None]
    found += [each for each in map(_several_units, columns) if each is not None]
    found += [_dates(each) for each in columns if each.kind == "date" and each.raw_levels]
    return [*found, *(each for each in map(_mixed, table.columns) if each is not None)]


def _read(column: CheckedColumn) -> Finding | None:
    read = column.quantities
    if read is None:
        return None
    unread = read.unread
    if not read.written and not unread:
        what = f"{column.name} holds numbers as text."
    else:
        how = f" ({read.written})" if read.written else ""
        what = f"{column.name} holds numbers as text{how}, such as {column.raw_levels[0]!r}."
    if unread:
        what += (
            f" {counted(len(unread), 'value is not a number', 'values are not numbers')}: "
            f"{listed([repr(each) for each in unread], 3)}."
        )
    return Finding(
        "numbers",
        "warning" if unread else "note",
        what,
        "As text, every number is a category of its own, and its order is lost.",
        ("Replace these values by missing ones, and convert" if unread else "Convert")
        + " the column to numbers; this check already treats it as numbers.",
        (column.name,),
    )


def _dates(column: CheckedColumn) -> Finding:
    return Finding(
        "dates",
        "note",
        f"{column.name} holds dates as text, such as {column.raw_levels[0]!r}.",
        "As text, every date is a category of its own, and its order is lost.",
        "Convert the column to dates; this check already treats it as dates.",
        (column.name,),
    )


def _several_units(column: CheckedColumn) -> Finding | None:
    units = mixed_units(column.levels) if column.kind == "category" else ()
    if not units:
        return None
    return Finding(
        "numbers",
        "warning",
        f"{column.name} holds numbers with mixed units: {listed(units, 5)}, such as "
        f"{column.levels[0]!r}.",
        "As text, every number is a category of its own; without their units, the numbers cannot "
        "be compared.",
        "Convert all values to one unit, and the column to numbers.",
        (column.name,),
    )


def _mixed(column: CheckedColumn) -> Finding | None:
    if column.kind != "category":
        return None
    kinds = {type(level).__name__ for level in column.levels}
    plain = sum(_is_number(level) for level in column.levels)
    share = plain / max(1, len(column.levels))
    apart = kinds & {"int", "float"} and "str" in kinds
    if not apart and not (len(column.levels) > 20 and LEAST_SHARE <= share <= 1 - LEAST_SHARE):
        return None
    words = [level for level in column.levels if not _is_number(level)]
    return Finding(
        "numbers",
        "warning",
        f"{column.name} mixes numbers and words: {plain:,} of {len(column.levels):,} distinct "
        f"values are numbers, others are {listed([repr(each) for each in words], 3)}.",
        "Used as categories, the numbers lose their order; used as numbers, the words are lost.",
        "Decide which it is: replace the words by missing values, or split the column in two.",
        (column.name,),
    )


def _is_number(value: object) -> bool:
    if not isinstance(value, str):
        return isinstance(value, int | float)
    try:
        float(value)
    except ValueError:
        return False
    return True
