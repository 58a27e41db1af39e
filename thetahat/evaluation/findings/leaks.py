"""Columns that may hold the answer: near-perfect alone, present for one class only, or so named."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from thetahat.evaluation.findings.alone import explained_alone, explained_by_codes
from thetahat.evaluation.findings.exact import LEAST_DISTINCT, one_block_per_class, same_order
from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.names import name_words
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable
from thetahat.evaluation.findings.time_order import is_time
from thetahat.foundation.types import Array

ALMOST_ALL = 0.99
"""Share of variance explained by one column from which it is taken for a leak."""
VERY_MUCH = 0.95
NAMED_AND_GOOD = 0.5
RARE = 1e-6
"""Probability by chance below which values that are present for one class only are reported."""
LEAST_ROWS = 20

WHY = (
    "A column that holds the answer, or is filled in after the answer is known, makes every score "
    "too high: it is not there when a prediction is needed."
)
ACTION = "Leave the column out unless its value is known before the target is."


def find_leaks(table: CheckedTable) -> list[Finding]:
    """Columns from which the target can be read off."""
    if table.target is None or table.n_rows < LEAST_DISTINCT or table.target.n_distinct < 2:
        return []
    held = [column for column in table.columns if column.n_distinct > 0]
    times = [column for column in held if is_time(column)]
    usable = [column for column in held if not is_time(column)]
    identifiers = {column.name for column in usable if is_identifier(column)}
    enough = table.n_rows >= LEAST_ROWS
    ranks = None
    if table.task == "regression" and enough:
        ranks = rankdata(table.target.values)[:, None]
    found = [each for each in (_by_presence(column, table) for column in times) if each and enough]
    for column in usable:
        # Without another column, the target may simply be a function of this one.
        n_others = len(usable) - len(identifiers) - (column.name not in identifiers)
        alone = explained_alone(column, table.response) if enough else 0.0
        finding = _by_value(column, table, alone, n_others) if alone >= ALMOST_ALL else None
        finding = finding or _exactly(column, table, n_others, len(usable))
        if ranks is not None:
            finding = finding or _by_rank(column, table, ranks, n_others)
        if enough:
            finding = (
                finding
                or _by_presence(column, table)  # severe, so before what may be a warning
                or _by_value(column, table, alone, n_others)
                or (_by_name(column, table, alone) if column.name not in identifiers else None)
            )
        if finding is not None:
            found.append(finding)
    return found


def _finding(column: CheckedColumn, severe: bool, what: str) -> Finding:
    return Finding("leaks", "severe" if severe else "warning", what, WHY, ACTION, (column.name,))


def _by_value(
    column: CheckedColumn, table: CheckedTable, alone: float, n_others: int
) -> Finding | None:
    assert table.target is not None
    if alone < VERY_MUCH:
        return None
    what = "variance" if table.task == "regression" else "variation"
    return _finding(
        column,
        alone >= ALMOST_ALL and n_others > 0,
        f"{column.name} alone explains {_share(alone)} of the {what} of {table.target.name}.",
    )


def _exactly(
    column: CheckedColumn, table: CheckedTable, n_others: int, n_columns: int
) -> Finding | None:
    """A column that determines the target without any error, at any number of rows."""
    target = table.target
    assert target is not None
    if table.task == "regression" and target.n_distinct >= LEAST_DISTINCT:
        order = same_order(column, target, n_columns)
        if order == 0:
            return None
        kind = "the same order as" if order > 0 else "the reverse order of"
        what = f"{column.name} has {kind} {target.name} in all rows"
    else:
        if not one_block_per_class(column, target.coded[0], n_columns):
            return None
        what = f"{column.name} alone determines {target.name} in all rows"
    n_missing = int(column.missing.sum())
    gaps = f" in which it is present ({table.n_rows - n_missing:,})" if n_missing else ""
    return _finding(column, n_others > 0, f"{what}{gaps}.")


def _by_rank(
    column: CheckedColumn, table: CheckedTable, ranks: Array, n_others: int
) -> Finding | None:
    """The share of variance of the ranks, which does not depend on the largest targets."""
    assert table.target is not None
    alone = explained_alone(column, ranks)
    if alone < ALMOST_ALL:
        return None
    return _finding(
        column,
        n_others > 0,
        f"{column.name} alone explains {_share(alone)} of the variance of the ranks of "
        f"{table.target.name}.",
    )


def _share(alone: float) -> str:
    return "100%" if alone > 0.99995 else f"{alone:.1%}"


def _by_presence(column: CheckedColumn, table: CheckedTable) -> Finding | None:
    """A value that is present, or missing, for one class only."""
    missing = column.missing
    n_missing = int(missing.sum())
    if not LEAST_ROWS / 4 <= n_missing <= table.n_rows - LEAST_ROWS / 4:
        return None
    assert table.target is not None
    alone = explained_by_codes(missing.astype(np.int64), 2, table.response, ordered=False)
    if alone >= VERY_MUCH:
        return Finding(
            "leaks",
            "severe",
            f"Whether {column.name} is missing explains {alone:.1%} of the variation of "
            f"{table.target.name}.",
            WHY,
            ACTION,
            (column.name,),
        )
    if table.task != "classification":
        return None
    labels, n_classes = table.target.coded
    shares = np.bincount(labels, minlength=n_classes) / table.n_rows
    for rows, state in ((~missing, "present"), (missing, "missing")):
        counts = np.bincount(labels[rows], minlength=n_classes)
        top = int(counts.argmax())
        size = int(counts.sum())
        pure = counts[top] == size >= LEAST_ROWS and shares[top] <= 0.8
        if pure and size * np.log(shares[top]) < np.log(RARE):
            label = _label(table.target, top)
            held = np.flatnonzero(rows)
            return Finding(
                "leaks",
                "severe",
                f"{column.name} is {state} in {size:,} rows, and all of them have "
                f"{table.target.name} = {label}, which {shares[top]:.0%} of all rows have.",
                WHY,
                ACTION,
                (column.name,),
                tuple(table.numbered(held[:ROWS_KEPT]).tolist()),
                size,
            )
    return None


def _by_name(column: CheckedColumn, table: CheckedTable, alone: float) -> Finding | None:
    assert table.target is not None
    goal, words = name_words(table.target.name), name_words(column.name)
    if not goal or table.target.name == "y" or not set(goal) <= set(words):
        return None
    return Finding(
        "leaks",
        "warning" if alone >= NAMED_AND_GOOD else "note",
        f"{column.name} is named after the target {table.target.name}, and alone explains "
        f"{max(alone, 0.0):.0%} of its variation.",
        WHY,
        ACTION,
        (column.name,),
    )


def _label(target: CheckedColumn, place: int) -> str:
    """The label of a code."""
    if target.is_number:
        return f"{np.unique(target.values[~target.missing])[place]:g}"
    held = np.unique(target.values[~target.missing])
    return str(target.levels[int(held[place])])
