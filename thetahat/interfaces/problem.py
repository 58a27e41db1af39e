"""The task for a table and a target: type of prediction, columns, and warnings."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from thetahat.data.columns.quantities import mixed_units
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.interfaces.tables.columns import (
    ColumnFinding,
    find_columns,
    kinds_of,
    notations_of,
    require_columns,
    require_finite,
    typed,
)
from thetahat.interfaces.tables.types import require_target_type

TASKS = ("auto", "classification", "regression")
FEW_NUMBERS = 10
"""Largest number of distinct whole numbers that are treated as classes."""
FEW_CLASSES = 20
"""Up to this number they are treated as classes for any number of rows."""
MOST_CLASSES = 100
LARGEST_LABEL = 2**53
"""Larger whole numbers are not exact as floating point."""


@dataclass(frozen=True)
class Problem:
    """Predict `target` from the columns of X."""

    target: str
    task: str
    reason: str
    """Why this task was chosen."""
    X: Any
    y: Array
    columns: list[ColumnFinding]
    """All columns except the target, including those left out."""
    notes: list[str]
    """Notes about the data that affect how far the results can be trusted."""
    rows: Array
    """The numbers of the rows in the file, counted from 0."""

    @property
    def kinds(self) -> dict[str, str]:
        return kinds_of(self.columns)

    @property
    def notations(self) -> dict[str, str]:
        return notations_of([found for found in self.columns if found.kind != "drop"])

    @property
    def n_rows(self) -> int:
        return int(self.X.height)


def pose(
    table: Any,
    target: str,
    *,
    task: str = "auto",
    kinds: Mapping[str, str] | None = None,
    keep: tuple[str, ...] = (),
) -> Problem:
    """Find the task and the columns, leave out useless columns, and note problems."""
    if task not in TASKS:
        raise ParameterError(f"--task {task}: the tasks are {', '.join(TASKS)}.")
    require_target(table, target)
    require_target_type(table[target])
    for name in keep:
        if name not in table.columns:
            raise ParameterError(f"--keep {name}: there is no column of this name.")
    kinds = dict(kinds or {})
    goal = find_columns(
        table.select(target), {target: kinds.pop(target)} if target in kinds else {}
    )
    notes = [*goal[0].warnings]
    rows = np.arange(table.height)
    values, missing = goal[0].values, goal[0].values.null_count()
    if missing == len(values):
        raise DataError(f"The target {target!r} is missing in all {len(values):,} rows.")
    if missing:
        notes.append(
            f"{missing:,} row{'s' * (missing != 1)} without a value of {target} "
            f"{'is' if missing == 1 else 'are'} left out"
        )
        table = table.filter(values.is_not_null())
        rows = rows[values.is_not_null().to_numpy()]
        values = values.drop_nulls()
    if values.n_unique() == 1:
        raise DataError(
            f"The target {target!r} is {values[0]!r} in every row, so there is nothing to predict. "
            "Name another column."
        )
    found_task, reason = _task(goal[0], values, task)
    y = _targets(values, found_task, target, rows)
    features = table.drop(target)
    if not features.width:
        raise DataError(f"{target!r} is the only column. Add columns to predict it from.")
    columns = [_kept(found, keep) for found in find_columns(features, kinds)]
    n_distinct = table.n_unique()
    columns = [_without_copy(found, values, target, keep, n_distinct) for found in columns]
    require_columns(columns)
    for found in columns:
        if found.kind != "drop":
            remedy = "Correct the file, or remove such rows"
            also = "" if found.name in keep else f", or use --kind {found.name}=drop"
            require_finite(found.values, rows, f"{remedy}{also}.")
    if found_task == "classification":
        held = _without_single_classes(y, notes)
        if not held.all():
            kept = pl.Series(held)
            columns = [replace(found, values=found.values.filter(kept)) for found in columns]
            y, rows = y[held], rows[held]
    reason = reason.format(len(np.unique(y)))
    return Problem(target, found_task, reason, typed(columns), y, columns, notes, rows)


def require_target(table: Any, target: str) -> None:
    """Raise an error if the target is not a column, with the closest names."""
    if target in table.columns:
        return
    near = difflib.get_close_matches(target, table.columns, n=3, cutoff=0.5)
    same = [name for name in table.columns if name.lower() == target.lower()]
    hint = f"Did you mean {' or '.join(map(repr, same or near))}? " if same or near else ""
    raise DataError(
        f"There is no column {target!r}. {hint}Columns: {', '.join(table.columns[:20])}"
        + (f", … ({table.width - 20} more)." if table.width > 20 else ".")
    )


def _task(found: ColumnFinding, values: Any, asked: str) -> tuple[str, str]:
    """The task for such a target, and the reason, with a place for the number of its values."""
    if asked != "auto":
        return asked, "as requested"
    if found.kind == "date":
        raise DataError(
            f"The target {found.name!r} is a date. Convert it to a number, such as days."
        )
    if values.dtype == pl.Float64:
        whole = bool((values == values.round()).all())
        if whole and values.n_unique() <= FEW_NUMBERS:
            return "classification", "{:,} distinct whole numbers"
        return "regression", "numbers, {:,} distinct"
    return "classification", "{:,} classes"


def _targets(values: Any, task: str, target: str, rows: Array) -> Array:
    if task == "regression":
        if values.dtype != pl.Float64:
            raise DataError(
                f"--task regression needs numbers, but {target!r} holds {values[0]!r}. Use "
                "--task classification."
            )
        y = values.to_numpy()
        if not np.isfinite(y).all():
            raise DataError(
                f"The target {target!r} is infinite in row "
                f"{int(rows[np.argmin(np.isfinite(y))]) + 1}. Correct it, or remove the row."
            )
        return y
    n_classes = values.n_unique()
    if n_classes > MOST_CLASSES or FEW_CLASSES < n_classes > len(values) / 2:
        units = (
            mixed_units(values.unique(maintain_order=True).to_list())
            if values.dtype == pl.String
            else ()
        )
        if units:
            raise DataError(
                f"The target {target!r} holds numbers with mixed units: {', '.join(units)}. "
                "Convert all values to one unit."
            )
        raise DataError(
            f"The target {target!r} has {n_classes:,} distinct values in {len(values):,} rows, "
            "which is too many for classes. Is it an identifier or free text? Name another column"
            + (", or use --task regression." if values.dtype == pl.Float64 else ".")
        )
    if values.dtype == pl.Float64:
        numbers = values.to_numpy()
        if (numbers == np.round(numbers)).all() and np.abs(numbers).max() <= LARGEST_LABEL:
            return numbers.astype(np.int64)
        return np.array([str(number) for number in numbers.tolist()])
    return np.asarray(values.cast(pl.String).to_list())


def _kept(found: ColumnFinding, keep: tuple[str, ...]) -> ColumnFinding:
    """A column that would be left out, if the user wants to keep it."""
    if found.kind != "drop" or found.name not in keep:
        return found
    kind = "numeric" if found.values.dtype.is_numeric() else "categorical"
    return ColumnFinding(
        found.name, kind, found.values, "kept as requested", found.n_missing, found.n_distinct
    )


def _without_copy(
    found: ColumnFinding, target: Any, name: str, keep: tuple[str, ...], n_distinct: int
) -> ColumnFinding:
    """Leave out a column that equals the target, value by value.

    Copies of rows repeat their values, so only distinct rows count.
    """
    if found.kind in ("drop", "text") or found.name in keep:
        return found
    pairs = pl.DataFrame({"column": found.values, "target": target}).drop_nulls().unique()
    n_values = pairs["column"].n_unique()
    if len(pairs) != n_values or n_values < 2 or n_values > n_distinct / 2:
        return found
    if pairs["target"].n_unique() == n_values and n_values == target.n_unique():
        return replace(found, kind="drop", reason=f"a copy of the target {name}")
    return found


def _without_single_classes(y: Array, notes: list[str]) -> Array:
    """The rows (a mask) without classes of a single row, which cannot be trained and tested."""
    classes, counts = np.unique(y, return_counts=True)
    single = classes[counts < 2]
    if not single.size:
        return np.ones(len(y), dtype=bool)
    held = ~np.isin(y, single)
    if len(classes) - single.size < 2:
        raise DataError(
            f"{single.size} of {len(classes)} classes have a single row, but at least two classes "
            "need two or more rows, one for training and one for testing. Give more rows."
        )
    notes.append(
        f"{single.size} class{'es' * (single.size != 1)} with a single row "
        f"({', '.join(map(str, single[:3]))}{', …' if single.size > 3 else ''}) "
        f"{'is' if single.size == 1 else 'are'} left out"
    )
    return held
