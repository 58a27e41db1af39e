"""The known targets of the rows of a file, as a saved model writes them.

The classes of a file are matched with those of the model by what they say, not by their types: the
class 1 is written 1, 1.0 or, in a Parquet file, true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.interfaces.tables.columns import find_columns, retyped
from thetahat.interfaces.tables.types import require_target_type

SHOWN = 5
"""Largest number of labels in a message."""


@dataclass(frozen=True)
class Truth:
    """Targets, the task they belong to, and the numbers of their rows in the file, from 0."""

    y: Array
    task: str
    rows: Array

    @property
    def n_rows(self) -> int:
        return len(self.y)


def known_targets(column: Any, model: Any) -> Truth:
    """The targets of the rows that have one, in the type that the model predicts."""
    classes = getattr(model, "classes_", None)
    task = "regression" if classes is None else "classification"
    require_target_type(column)
    values = _numbers(column) if classes is None else retyped(column, "categorical", "")
    present = values.is_not_null().to_numpy()
    rows = np.flatnonzero(present)
    if not rows.size:
        raise DataError(f"The target {column.name!r} is missing in all {len(column):,} rows.")
    held = values.filter(present)
    y = held.to_numpy() if classes is None else _classes(held, np.asarray(classes), rows)
    if (y == y[0]).all():
        raise DataError(
            f"The target {column.name!r} is {str(y[0])!r} in every row, so no score can "
            "distinguish good predictions from bad ones. Use rows with different targets."
        )
    return Truth(y, task, rows)


def _numbers(column: Any) -> Any:
    values = find_columns(column.to_frame())[0].values
    if column.drop_nulls().n_unique() == 1:  # its kind cannot be seen
        values = retyped(column, "numeric", "")
    if not values.dtype.is_float():
        raise DataError(
            f"The model predicts numbers, but {column.name!r} holds {str(column[0])!r}. Name a "
            "column of numbers with --target."
        )
    infinite = values.is_infinite().fill_null(False)
    if infinite.any():
        raise DataError(
            f"The target {column.name!r} is infinite in row {int(infinite.arg_max()) + 1}. Correct "
            "it, or remove the row."
        )
    return values


def _classes(labels: Any, classes: Array, rows: Array) -> Array:
    """The class of every label; labels that the model does not know are refused."""
    places = {str(each): place for place, each in enumerate(classes.tolist())}
    found = {
        label: next((places[way] for way in _ways(label) if way in places), -1)
        for label in labels.unique().to_list()
    }
    codes = np.array([found[label] for label in labels.to_list()])
    unknown = np.flatnonzero(codes < 0)
    if unknown.size:
        known = ", ".join(list(places)[:SHOWN]) + ", …" * (len(places) > SHOWN)
        raise DataError(
            f"{unknown.size:,} of {len(codes):,} rows have a class of {labels.name!r} that the "
            f"model does not know (first {labels[int(unknown[0])]!r} in row "
            f"{int(rows[unknown[0]]) + 1}); its classes are {known}. Correct these rows, remove "
            "them, or name the right column with --target."
        )
    return np.asarray(classes[codes])


def _ways(label: str) -> list[str]:
    """A label, and how a number or a truth value is written otherwise."""
    ways = [label, label.strip()]
    try:
        number = float(label)
    except ValueError:
        truth = {"true": "1", "false": "0"}.get(label.lower())
        return ways if truth is None else [*ways, label.lower(), label.capitalize(), truth]
    if np.isfinite(number):
        ways += [str(number), *[str(int(number))] * (number == int(number))]
    return ways
