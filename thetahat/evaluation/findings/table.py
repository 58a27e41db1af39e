"""The table that all finders look at: every column once as numbers or as codes of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, count
from typing import Any

import numpy as np

from thetahat.data.arrays import require_unmasked
from thetahat.data.column_targets import one_column
from thetahat.data.columns.date_layouts import days_of, read_dates
from thetahat.data.columns.quantities import Quantities, read_quantities
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import Variable, is_missing, variables
from thetahat.data.validation import is_sparse
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.column_encoders import dates_of, is_date

FEW_NUMBERS = 10
"""Largest number of distinct whole numbers that are treated as classes."""
DATED = ("DatetimeIndex", "PeriodIndex")
"""Indexes of pandas that say when the rows were measured."""
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class CheckedColumn:
    """One column, as numbers (NaN if missing) or as codes of its values (−1 if missing)."""

    name: str
    kind: str
    """"number", "date" (in days), "category" or "other" (cells that are neither)."""
    values: Array
    levels: tuple[Any, ...] = ()
    """The values that the codes stand for."""
    quantities: Quantities | None = None
    """How numbers were written, if they were read from text."""
    raw_levels: tuple[Any, ...] = ()
    """The values of a column of text from which numbers or dates were read."""

    @property
    def is_number(self) -> bool:
        return self.kind in ("number", "date")

    @cached_property
    def missing(self) -> Array:
        return np.isnan(self.values) if self.is_number else self.values < 0

    @cached_property
    def coded(self) -> tuple[Array, int]:
        """The number of its value in every row (the largest where missing), and their count.

        Values of numbers are in ascending order.
        """
        if self.is_number:
            distinct, codes = np.unique(self.values, return_inverse=True, equal_nan=True)
            return codes.ravel(), distinct.size
        codes = np.where(self.missing, len(self.levels), self.values)
        held, codes = np.unique(codes, return_inverse=True)
        return codes.ravel(), held.size

    @cached_property
    def n_distinct(self) -> int:
        """The number of distinct values, without missing ones."""
        return int(self.coded[1]) - bool(self.missing.any())

    def chosen(self, rows: Array) -> CheckedColumn:
        """Some of the rows."""
        return CheckedColumn(
            self.name, self.kind, self.values[rows], self.levels, self.quantities, self.raw_levels
        )


@dataclass(frozen=True)
class CheckedTable:
    """The columns and the target of the rows that have one."""

    columns: tuple[CheckedColumn, ...]
    n_rows: int
    target: CheckedColumn | None = None
    task: str | None = None
    rows: Array | None = None
    """The numbers of these rows in the given table; None if they are all of its rows."""

    def numbered(self, rows: Array) -> Array:
        """Row numbers of the given table."""
        return rows if self.rows is None else self.rows[rows]

    @cached_property
    def response(self) -> Array:
        """The target as columns of numbers: itself (scaled), or the indicators of its classes."""
        assert self.target is not None
        if self.task == "regression":
            # Finders ask for shares of variance only, and squares must not overflow.
            y = np.clip(self.target.values, -1e300, 1e300)
            return (y / (np.abs(y).max(initial=0.0) or 1.0))[:, None]
        codes, n_classes = self.target.coded
        if n_classes > 2:
            kept = np.argsort(-np.bincount(codes, minlength=n_classes))[:20]
            return (codes[:, None] == kept).astype(np.float64)
        return (codes == n_classes - 1).astype(np.float64)[:, None]

    def chosen(self, rows: Array) -> CheckedTable:
        """Some of the rows."""
        target = None if self.target is None else self.target.chosen(rows)
        columns = tuple(each.chosen(rows) for each in self.columns)
        return CheckedTable(columns, len(rows), target, self.task, self.numbered(rows))


def checked_table(
    X: Any, y: Any = None, *, task: str = "auto", names: Sequence[str] | None = None
) -> CheckedTable:
    """Read every column once; rows without a target are left out."""
    if task not in TASKS:
        raise ParameterError(f"check: task={task!r} must be one of {', '.join(TASKS)}.")
    require_unmasked(X, "X", "check")
    columns = _columns(_with_dates(X) if names is None else X)
    if names is not None and len(names) != len(columns):
        raise ParameterError(
            f"check: {len(names)} names for {len(columns)} columns. Give one name per column."
        )
    labels = [str(each.label) if names is None else str(names[j]) for j, each in enumerate(columns)]
    if names is None and not is_table(X):
        labels = [f"x{j}" for j in range(len(columns))]
    n_rows = len(columns[0].values) if columns else len(X)
    read = tuple(_read(name, column) for name, column in zip(labels, columns, strict=True))
    if y is None:
        return CheckedTable(read, n_rows)
    target = _target(y, n_rows, "y")
    found = target_task(target, task)
    table = CheckedTable(read, n_rows, target, found)
    present = np.flatnonzero(~target.missing)
    return table if present.size == n_rows else table.chosen(present)


def target_task(target: CheckedColumn, task: str) -> str:
    """The task for a target: numbers with more than a few distinct values mean regression."""
    if task == "regression" and not target.is_number:
        raise DataError(
            "check: the target holds text, so it cannot be used for regression. Use "
            'task="classification".'
        )
    if task != "auto":
        return task
    if target.kind != "number":
        return "regression" if target.kind == "date" else "classification"
    present = target.values[~target.missing]
    whole = bool((present == np.round(present)).all())
    return "classification" if whole and target.n_distinct <= FEW_NUMBERS else "regression"


def _with_dates(X: Any) -> Any:
    """A data frame whose index holds dates, with the dates as its first column."""
    index: Any = getattr(X, "index", None)
    if type(index).__name__ not in DATED or not hasattr(X, "columns"):
        return X
    names = chain((index.name, "index"), (f"index {number}" for number in count(2)))
    return X.reset_index(names=next(each for each in names if each not in (None, *X.columns)))


def _columns(X: Any) -> list[Variable]:
    if is_sparse(X):
        require_memory(
            8 * X.shape[0] * X.shape[1],
            f"check: {X.shape[0]} rows of {X.shape[1]} columns",
            "Use fewer rows or columns.",
        )
        require_indices(X, "check")
        X = X.toarray()
    if not is_table(X):
        X = np.asarray(X)
        if X.ndim == 1:
            X = X[:, None]
        if X.ndim != 2:
            raise DataError(
                f"check: X has {X.ndim} dimensions, but must be a table of rows and columns."
            )
    return variables(X)


def _target(y: Any, n_rows: int, name: str) -> CheckedColumn:
    require_unmasked(y, name, "check")
    y = one_column(y)
    # An array of pandas, such as a Categorical, has a dtype but is no column with a name.
    if not is_table(y) and (not hasattr(type(y), "dtype") or hasattr(type(y), "_from_sequence")):
        y = np.asarray(y)
    if isinstance(y, np.ndarray):
        if y.ndim != 1:
            raise DataError(
                f"check: y has shape {y.shape}, but must have one target per row. Check the "
                "targets one by one."
            )
        y = y[:, None]
    column = variables(y)
    if len(column) != 1 or len(column[0].values) != n_rows:
        raise DataError(
            f"check: X has {n_rows} rows, but y has {len(column[0].values) if column else 0}. "
            "Give one target per row."
        )
    return _read(name if column[0].label in (None, 0) else str(column[0].label), column[0])


def _read(name: str, column: Variable) -> CheckedColumn:
    if getattr(column.dtype, "kind", "") == "c":
        raise DataError(
            f"check: {name} holds complex numbers. Give their real and imaginary parts as columns."
        )
    try:
        return _by_type(name, column)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return _by_text(name, column)


def _by_type(name: str, column: Variable) -> CheckedColumn:
    if is_date(column):
        when = dates_of(column)
        days = when.astype(np.int64) / 86_400.0
        return CheckedColumn(name, "date", np.where(np.isnat(when), np.nan, days))
    kind = column.declared_kind
    if kind is None:
        return _by_text(name, column)
    if kind.is_number:
        return CheckedColumn(name, "number", np.asarray(column.numbers(), dtype=np.float64))
    levels, codes = column.distinct()
    return _of_levels(name, "category", levels, np.asarray(codes))


def _by_text(name: str, column: Variable) -> CheckedColumn:
    """Cells of any type, compared by their text."""
    cells = column.values.tolist() if hasattr(column.values, "tolist") else list(column.values)
    place: dict[str, int] = {}
    when = _days_of(cells)
    if when is not None:
        return CheckedColumn(name, "date", when)
    codes = [-1 if _no_value(cell) else place.setdefault(repr(cell), len(place)) for cell in cells]
    return _of_levels(name, "other", list(place), np.array(codes, dtype=np.intp))


def _days_of(cells: list[Any]) -> Array | None:
    """Days since 1970 of cells that are all dates or periods (or missing); None of others."""
    starts = [None if _no_value(each) else getattr(each, "start_time", each) for each in cells]
    present = [each for each in starts if each is not None]
    if not present or not all(isinstance(each, date) for each in present):
        return None
    return np.array([np.nan if each is None else days_of(each) for each in starts])


def _no_value(cell: Any) -> bool:
    try:
        return is_missing(cell)
    except (TypeError, ValueError):
        return False


def _of_levels(name: str, kind: str, levels: list[Any], codes: Array) -> CheckedColumn:
    """A column of categories, or the numbers or dates that its text stands for."""
    if kind == "category":
        read = read_quantities(levels)
        if read is not None:
            numbers = np.append(read.numbers, np.nan)[codes]
            return CheckedColumn(name, "number", numbers, (), read, tuple(levels))
        days, text = read_dates(levels), tuple(levels)
        if days is None:
            days, text = _days_of(levels), ()
        if days is not None:
            return CheckedColumn(name, "date", np.append(days, np.nan)[codes], (), None, text)
    return CheckedColumn(name, kind, codes.astype(np.int64), tuple(levels))
