"""A table and a target become a problem: what is predicted, from what, and what is strange."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.interfaces.tables.columns import (
    ColumnFinding,
    find_columns,
    kinds_of,
    notations_of,
    require_columns,
    typed,
)

TASKS = ("auto", "classification", "regression")
FEW_NUMBERS = 10
"""Whole numbers of at most so many values are taken for classes."""
FEW_CLASSES = 20
"""So many may be classes in any number of rows."""
MOST_CLASSES = 100


@dataclass(frozen=True)
class Problem:
    """Predict `target` from the columns of X."""

    target: str
    task: str
    reason: str
    """Why this task."""
    X: Any
    y: Array
    columns: list[ColumnFinding]
    """All columns but the target, those left out among them."""
    notes: list[str]
    """What the user should know before believing the numbers."""

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
    """Find the task and the columns, leave out what cannot help, and note what is strange."""
    if task not in TASKS:
        raise ParameterError(f"--task {task}: tasks are {', '.join(TASKS)}.")
    require_target(table, target)
    for name in keep:
        if name not in table.columns:
            raise ParameterError(f"--keep {name}: there is no such column.")
    kinds = dict(kinds or {})
    goal = find_columns(
        table.select(target), {target: kinds.pop(target)} if target in kinds else {}
    )
    notes = [*goal[0].warnings]
    values, missing = goal[0].values, goal[0].values.null_count()
    if missing == len(values):
        raise DataError(f"The target {target!r} is missing in all {len(values):,} rows.")
    if missing:
        notes.append(f"{missing:,} rows without a {target} are left out")
        table = table.filter(values.is_not_null())
        values = values.drop_nulls()
    if values.n_unique() == 1:
        raise DataError(
            f"The target {target!r} is {values[0]!r} in every row; there is nothing to predict. "
            "Name another column."
        )
    found_task, reason = _task(goal[0], values, task)
    y = _targets(values, found_task, target)
    features = table.drop(target)
    if not features.width:
        raise DataError(f"{target!r} is the only column. Add columns to predict it from.")
    columns = [_kept(found, keep) for found in find_columns(features, kinds)]
    columns = [_without_leak(found, values, target, keep, notes) for found in columns]
    for found in columns:
        notes.extend(found.warnings)
    require_columns(columns)
    X = typed(columns)
    if found_task == "classification":
        X, y = _without_single_classes(X, y, notes)
    return Problem(target, found_task, reason, X, y, columns, notes)


def require_target(table: Any, target: str) -> None:
    """Refuse a target that is no column, with the nearest names."""
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
    """What predicting such a target is, and why."""
    if asked != "auto":
        return asked, "as asked"
    if found.kind == "date":
        raise DataError(
            f"The target {found.name!r} is a date. Turn it into a number of days, for example."
        )
    if values.dtype == pl.Float64:
        whole = bool((values == values.round()).all())
        if whole and values.n_unique() <= FEW_NUMBERS:
            return "classification", f"{values.n_unique()} different whole numbers"
        return "regression", f"numbers, {values.n_unique():,} different"
    return "classification", f"{values.n_unique():,} classes"


def _targets(values: Any, task: str, target: str) -> Array:
    if task == "regression":
        if values.dtype != pl.Float64:
            raise DataError(
                f"--task regression needs numbers, and {target!r} holds {values[0]!r}. Use "
                "--task classification."
            )
        y = values.to_numpy()
        if not np.isfinite(y).all():
            raise DataError(
                f"The target {target!r} is infinite in row {int(np.argmin(np.isfinite(y))) + 1}. "
                "Correct it, or leave the row out."
            )
        return y
    n_classes = values.n_unique()
    if n_classes > MOST_CLASSES or FEW_CLASSES < n_classes > len(values) / 2:
        raise DataError(
            f"The target {target!r} has {n_classes:,} different values in {len(values):,} rows: "
            "too many for classes. Is it an identifier or free text? Name another column"
            + (", or use --task regression." if values.dtype == pl.Float64 else ".")
        )
    if values.dtype == pl.Float64:
        return values.cast(pl.Int64).to_numpy()
    return np.asarray(values.cast(pl.String).to_list())


def _kept(found: ColumnFinding, keep: tuple[str, ...]) -> ColumnFinding:
    """A column that was to be left out, if the user wants it."""
    if found.kind != "drop" or found.name not in keep:
        return found
    kind = "numeric" if found.values.dtype.is_numeric() else "categorical"
    return ColumnFinding(
        found.name, kind, found.values, "kept as asked", found.n_missing, found.n_distinct
    )


def _without_leak(
    found: ColumnFinding, target: Any, name: str, keep: tuple[str, ...], notes: list[str]
) -> ColumnFinding:
    """A column that is the target again is left out; one that gives it away is reported."""
    if found.kind in ("drop", "text") or found.name in keep:
        return found
    pairs = pl.DataFrame({"column": found.values, "target": target}).drop_nulls().unique()
    n_values = pairs["column"].n_unique()
    if len(pairs) != n_values or n_values < 2 or n_values > len(target) / 2:
        return found
    if pairs["target"].n_unique() == n_values and n_values == target.n_unique():
        notes.append(
            f"{found.name} is {name} under another name (each value stands for one {name}) and is "
            f"left out; --keep {found.name} keeps it"
        )
        return ColumnFinding(
            found.name,
            "drop",
            found.values,
            f"the target {name} again",
            found.n_missing,
            found.n_distinct,
        )
    notes.append(f"{found.name} alone determines {name} in every row: was it known beforehand?")
    return found


def _without_single_classes(X: Any, y: Array, notes: list[str]) -> tuple[Any, Array]:
    """Classes of one row can be learned or tested, never both."""
    classes, counts = np.unique(y, return_counts=True)
    single = classes[counts < 2]
    if not single.size:
        return X, y
    held = ~np.isin(y, single)
    if len(classes) - single.size < 2:
        raise DataError(
            f"{single.size} of {len(classes)} classes have a single row; at least two classes need "
            "two rows or more, to learn from one and be judged on the other. Give more rows."
        )
    notes.append(
        f"{single.size} classes with a single row ({', '.join(map(str, single[:3]))}"
        f"{', …' if single.size > 3 else ''}) are left out"
    )
    return X.filter(pl.Series(held)), y[held]
