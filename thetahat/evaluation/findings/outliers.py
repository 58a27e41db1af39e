"""Values far from all others: in columns of numbers, and in a target of numbers."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted, listed
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable
from thetahat.foundation.types import Array

FAR = 10.0
"""Distance from the quartiles, in interquartile ranges, from which a value is far away."""
RARE = 0.001
"""Largest share of far values; more are the tail of a skewed distribution."""
LEAST_ROWS = 30
PLACEHOLDERS = (-9999.0, -999.0, -99.0, -1.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
"""Numbers that often stand for a missing value."""
FEWEST, FEWEST_OF_TARGET = 5, 3
"""Rows from which such a number counts; a few decide what is learned of the target."""


def find_outliers(table: CheckedTable) -> list[Finding]:
    """Far values, infinite values, and numbers that stand for missing values."""
    if table.n_rows < LEAST_ROWS:
        return []
    found = [*_placeholders(table)]
    reported = {name for each in found for name in each.columns}
    numbers = [c for c in table.columns if c.kind == "number" and c.name not in reported]
    far = {column.name: far_rows(column) for column in numbers}
    far = {name: rows for name, rows in far.items() if rows.size}
    if far:
        rows = np.unique(np.concatenate(list(far.values())))
        shown = [f"{name} ({each.size})" for name, each in far.items()]
        found.append(
            _finding(
                table,
                rows,
                tuple(far),
                f"{counted(rows.size, 'row')} {'has' if rows.size == 1 else 'have'} values far "
                f"outside of all others: {listed(shown, 5)}.",
                "A few extreme values have a large influence on linear and distance-based models.",
                "Check whether they are errors. Trees, ranks or logarithms are not sensitive to "
                "them.",
            )
        )
    target = table.target
    if table.task == "regression" and target is not None and target.name not in reported:
        rows = far_rows(target)
        if rows.size:
            found.append(
                _finding(
                    table,
                    rows,
                    (target.name,),
                    f"{counted(rows.size, 'row')} {'has' if rows.size == 1 else 'have'} a value of "
                    f"{target.name} far outside of all others.",
                    "Squared errors, and with them R² and RMSE, depend mostly on these rows.",
                    "Check whether they are errors; a Huber loss, the median error or a logarithm "
                    "of the target is less sensitive to them.",
                )
            )
    return found


def far_rows(column: CheckedColumn) -> Array:
    """The rows whose value is far from the quartiles; empty for skewed or discrete columns."""
    nothing = np.empty(0, dtype=np.int64)
    values = column.values
    finite = np.isfinite(values)
    if finite.sum() < LEAST_ROWS or column.n_distinct <= 10:
        return nothing
    values = values / 4 / (np.abs(values[finite]).max() or 1.0)  # so that nothing overflows
    low, high = np.quantile(values[finite], [0.25, 0.75])
    spread = high - low
    if not spread > 0:
        return nothing
    far = (values < low - FAR * spread) | (values > high + FAR * spread)
    rows = np.flatnonzero(far & ~np.isnan(values))
    return rows if rows.size <= max(3, RARE * len(values)) else nothing


def _placeholders(table: CheckedTable) -> list[Finding]:
    """A number such as −999 that is frequent and far from all other values."""
    found = []
    target = [table.target] if table.task == "regression" and table.target is not None else []
    for column in [*table.columns, *target]:
        if column.kind != "number" or column.n_distinct <= 10:
            continue
        fewest = FEWEST_OF_TARGET if column is table.target else FEWEST
        values = column.values[np.isfinite(column.values)]
        for number in PLACEHOLDERS:
            rest = values[values != number]
            count = values.size - rest.size
            if count < fewest or rest.size < LEAST_ROWS:
                continue
            low, high = float(rest.min()), float(rest.max())
            width = high / 2 - low / 2
            outside = number < low - width or number > high + width
            if outside or (number == -1.0 and low >= 0 and count >= 0.02 * values.size):
                rows = np.flatnonzero(column.values == number)
                found.append(
                    _finding(
                        table,
                        rows,
                        (column.name,),
                        f"{column.name} is {number:g} in {counted(count, 'row')}, outside of its "
                        f"other values ({low:g} to {high:g}).",
                        "The number probably stands for a missing value; models would treat it as "
                        "a measurement.",
                        "Replace it by a missing value."
                        if column is not table.target
                        else "Leave these rows out.",
                        "warning",
                    )
                )
                break
    return found


def _finding(
    table: CheckedTable,
    rows: Array,
    columns: tuple[str, ...],
    what: str,
    why: str,
    action: str,
    severity: str = "note",
) -> Finding:
    shown = tuple(table.numbered(rows[:ROWS_KEPT]).tolist())
    return Finding("outliers", severity, what, why, action, columns, shown, int(rows.size))
