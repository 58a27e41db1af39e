"""The kinds of the columns of a table: numbers, ordered or unordered categories, text, dates.

They are found from all rows. Every finding has its reason in words, and can be overridden with
``--kind NAME=KIND``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from thetahat.data.columns.quantities import are_codes, mixed_units, notation, numbers_in, unit_of
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.interfaces.tables.dates import are_dates_of_digits, dates_in, layout_of
from thetahat.interfaces.tables.types import readable, type_name
from thetahat.models.preprocessing.table_vectorizer import WORDS_OF_TEXT

KINDS = ("numeric", "ordinal", "categorical", "text", "date", "drop")
NUMBERS_AMONG = 0.95
"""Smallest share of numbers for a column to be numeric, with other entries missing."""
GAP_WORDS = frozenset(
    (
        "- -- — – . .. n.a. n.a n/a na nan none null nil unknown missing empty n.v. k.a. tbd "
        "unbekannt #div/0! #value! #ref! #name? #num! #null! #n/a"
    ).split()
) | {"not available", "not applicable", "not known", "keine angabe"}
"""Words for a missing number, in a column of numbers; elsewhere they are values."""
QUANTITIES_TRIED = 200
"""Number of values that are tried as numbers with units before the whole column is."""
ORDERED = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "mid", "high"),
    ("small", "medium", "large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("bad", "poor", "fair", "average", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("mild", "moderate", "severe"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
)
"""Words with a generally known order."""


@dataclass(frozen=True)
class ColumnFinding:
    """One column: its values with their types, its kind, and the reason."""

    name: str
    kind: str
    values: Any
    reason: str
    n_missing: int
    n_distinct: int
    warnings: tuple[str, ...] = field(default=())
    written: str = ""
    """Notation of text: layout of dates, decimal commas, units; "" for the usual notation."""


def find_columns(table: Any, asked: Mapping[str, str] | None = None) -> list[ColumnFinding]:
    """The kind of every column, and its values in the type of that kind."""
    asked = dict(asked or {})
    for name, kind in asked.items():
        if name not in table.columns:
            raise ParameterError(
                f"--kind {name}={kind}: there is no column {name!r}. Columns: "
                f"{', '.join(table.columns[:20])}."
            )
        if kind not in KINDS:
            raise ParameterError(
                f"--kind {name}={kind}: the kinds are {', '.join(KINDS[:-1])} and drop."
            )
    return [_find(table[name], asked.get(name)) for name in table.columns]


def typed(findings: list[ColumnFinding]) -> Any:
    """The table with every column in the type of its kind, without dropped columns."""
    return pl.DataFrame([found.values for found in findings if found.kind != "drop"])


def kinds_of(findings: list[ColumnFinding]) -> dict[str, str]:
    """The kinds by name, without dropped columns."""
    return {found.name: found.kind for found in findings if found.kind != "drop"}


def notations_of(findings: list[ColumnFinding]) -> dict[str, str]:
    """Notations of the columns that do not use the usual one."""
    return {found.name: found.written for found in findings if found.written}


def retyped(column: Any, kind: str, written: str) -> Any:
    """Values of a column of known kind and notation; invalid values become missing.

    The notation is that of the training rows, as a few new rows may be ambiguous.
    """
    if kind == "numeric":
        return _as_numbers(column, written)
    if kind == "date":
        return dates_in(column, written)
    return _as_text(column)


def _find(column: Any, asked: str | None) -> ColumnFinding:
    missing, distinct = column.null_count(), column.drop_nulls().n_unique()
    found = ColumnFinding(column.name, "categorical", column, "", missing, distinct)
    if asked is not None and asked != "drop":
        column = readable(column, asked)
        written = _notation(column, asked)
        values = retyped(column, asked, written)
        if values.null_count() > missing:
            raise DataError(
                f"--kind {column.name}={asked}: {_lost(column, values, asked)}. Correct them in "
                f"the file, or use --kind {column.name}=categorical."
            )
        return replace(
            found,
            kind=asked,
            values=values,
            reason="as requested",
            written=written,
        )
    if asked == "drop":
        return replace(found, kind="drop", reason="as requested")
    if distinct == 0:
        return replace(found, kind="drop", reason="no values")
    if column.dtype.is_nested():
        return _of_no_kind(found)
    if distinct == 1 and missing == 0:
        return replace(found, kind="drop", reason=f"always {_first(column)!r}")
    if column.dtype == pl.String:
        return _find_in_text(found)
    return _find_by_type(found)


def _find_by_type(found: ColumnFinding) -> ColumnFinding:
    """The kind of a column with a type, from Parquet and Arrow files."""
    column = found.values
    if column.dtype.is_temporal() and column.dtype not in (pl.Time, pl.Duration):
        return replace(found, kind="date", reason=f"type {column.dtype}")
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return _numbers_or_identifier(replace(found, values=column.cast(pl.Float64)))
    if isinstance(column.dtype, pl.Enum):
        return replace(found, kind="ordinal", reason="type Enum")
    if isinstance(column.dtype, pl.Categorical):
        return replace(
            found, kind="categorical", values=column.cast(pl.String), reason="type Categorical"
        )
    return _of_no_kind(found)


def _of_no_kind(found: ColumnFinding) -> ColumnFinding:
    name = type_name(found.values.dtype)
    return replace(found, kind="drop", reason=f"type {name} is not a number, text or date")


def _find_in_text(found: ColumnFinding) -> ColumnFinding:
    column = _as_text(found.values)
    present = column.drop_nulls()
    comma = _notation(column, "numeric")
    numbers = _as_numbers(column, comma)
    n_numbers = _n_read(numbers)
    if _are_codes(present, found.n_distinct):
        reason = f"codes with leading zeros, {found.n_distinct:,} categories"
        return replace(found, kind="categorical", values=column, reason=reason)
    if n_numbers == len(present) and not are_dates_of_digits(present):
        return _numbers_or_identifier(replace(found, values=numbers, written=comma))
    layout = layout_of(present, all_of_them=True)
    if layout:
        dates = dates_in(column, layout)
        if _n_read(dates) == len(present):
            reason = f"dates written {layout}"
            return replace(found, kind="date", values=dates, reason=reason, written=layout)
    if n_numbers >= NUMBERS_AMONG * len(present) or _are_gaps(column, numbers):
        warning = _lost_values(column, numbers, "numeric")
        return replace(
            found,
            kind="numeric",
            values=numbers,
            n_missing=numbers.null_count(),
            reason=f"{n_numbers / len(present):.1%} numbers",
            warnings=(warning,),
            written=comma,
        )
    levels = _known_order(present)
    if levels:
        ordered = column.cast(pl.Enum(levels))
        return replace(
            found, kind="ordinal", values=ordered, reason=f"the order {' < '.join(levels)}"
        )
    words = float(present.str.split(" ").list.len().mean())
    if words >= WORDS_OF_TEXT and found.n_distinct > 20:
        return replace(found, kind="text", values=column, reason=f"{words:.0f} words on average")
    if found.n_distinct == len(present) and len(present) > 20:
        units = mixed_units(present.to_list())
        reason = f"numbers with mixed units: {', '.join(units)}; convert them to one unit"
        if not units:
            reason = "looks like an identifier: all distinct"
        return replace(found, kind="drop", values=column, reason=reason)
    reason = f"{found.n_distinct:,} categories"
    return replace(found, kind="categorical", values=column, reason=reason)


def _are_codes(present: Any, n_distinct: int) -> bool:
    """Whether digits with leading zeros name places or kinds; most of them come several times."""
    return n_distinct <= len(present) / 2 and are_codes(present.unique().to_list())


def _are_gaps(column: Any, numbers: Any) -> bool:
    """Whether all values that are not numbers say that there is none, and most are numbers."""
    words = column.filter(numbers.is_null() & column.is_not_null())
    if _n_read(numbers) <= len(words):
        return False
    return all(word.casefold() in GAP_WORDS for word in words.unique().to_list())


def _numbers_or_identifier(found: ColumnFinding) -> ColumnFinding:
    """Leave out distinct whole numbers that count the rows, as they only identify rows."""
    numbers = found.values.drop_nulls()
    counts = (
        len(numbers) > 20
        and found.n_missing == 0
        and bool((numbers.diff().drop_nulls() == 1).all())
    )
    if counts:
        return replace(found, kind="drop", reason="looks like an identifier: it counts the rows")
    unit = unit_of(found.written)
    what = f"numbers in {unit}" if unit else "numbers"
    return replace(found, kind="numeric", reason=f"{what}, {found.n_distinct:,} distinct")


def _as_text(column: Any) -> Any:
    """Values as text, without surrounding blanks and quotes."""
    if column.dtype != pl.String:
        return column.cast(pl.String)
    stripped = column.str.strip_chars()
    quoted = (
        stripped.str.starts_with("'")
        & stripped.str.ends_with("'")
        & (stripped.str.len_chars() >= 2)
    )
    if quoted.any():
        bare = stripped.str.strip_chars("'")
        stripped = pl.select(pl.when(quoted).then(bare).otherwise(stripped)).to_series()
    return stripped.alias(column.name)


def _notation(column: Any, kind: str) -> str:
    """The notation of a column of text: the one that reads most values."""
    if column.dtype != pl.String:
        return ""
    if kind == "numeric":
        present = column.drop_nulls()
        first = present.head(QUANTITIES_TRIED)
        if _n_read(_as_numbers(present, "")) == len(present):
            return ""
        if not _n_read(_as_numbers(first, notation(first.to_list()))):
            return ""
        return notation(present.unique(maintain_order=True).to_list())
    if kind == "date":
        return layout_of(column.drop_nulls())
    return ""


def _n_read(values: Any) -> int:
    return len(values) - int(values.null_count())


def _as_numbers(column: Any, written: str) -> Any:
    if column.dtype != pl.String:
        return column.cast(pl.Float64, strict=False)
    if not written:
        return column.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    values = column.drop_nulls().unique(maintain_order=True).to_list()
    read = pl.Series(numbers_in(values, written), dtype=pl.Float64).fill_nan(None)
    return column.replace_strict(values, read, default=None, return_dtype=pl.Float64)


def _known_order(present: Any) -> list[str]:
    """The values in their generally known order, or an empty list."""
    values = present.unique().to_list()
    if not 2 < len(values) <= 12:
        return []
    for words in ORDERED:
        place = {word: rank for rank, word in enumerate(words)}
        if all(value.lower() in place for value in values):
            return sorted(values, key=lambda value: place[value.lower()])
    return []


def _lost_values(column: Any, values: Any, kind: str) -> str:
    """A note on values that are invalid for the kind of the column, with the first one."""
    return (
        f"{column.name}: {_lost(column, values, kind)} and are treated as missing; use --kind "
        f"{column.name}=categorical to keep them"
    )


def _lost(column: Any, values: Any, kind: str) -> str:
    lost = values.is_null() & column.is_not_null()
    row = int(lost.arg_max())
    what = {"numeric": "numbers", "date": "dates"}.get(kind, kind)
    one = int(lost.sum()) == 1
    return (
        f"{int(lost.sum()):,} of {len(column):,} values {'is' if one else 'are'} not {what} (first "
        f"{column[row]!r} in row {row + 1})"
    )


def _first(column: Any) -> Any:
    value = column.drop_nulls()[0]
    return value if not isinstance(value, str) or len(value) < 30 else f"{value[:29]}…"


def require_finite(values: Any, rows: Any, remedy: str) -> None:
    """Refuse infinite numbers; `rows` are the numbers of the rows in the file, from 0."""
    if not values.dtype.is_float():
        return
    infinite = values.is_infinite().fill_null(False)
    count = int(infinite.sum())
    if count:
        first = int(rows[int(infinite.arg_max())]) + 1
        where = f"row {first:,}" if count == 1 else f"{count:,} rows, the first is row {first:,}"
        raise DataError(f"The column {values.name!r} is infinite in {where}. {remedy}")


def require_columns(findings: list[ColumnFinding]) -> None:
    """Require at least one column to predict from."""
    if not any(found.kind != "drop" for found in findings):
        reasons = "; ".join(f"{found.name}: {found.reason}" for found in findings[:5])
        raise DataError(f"No column is left to predict from ({reasons}).")
