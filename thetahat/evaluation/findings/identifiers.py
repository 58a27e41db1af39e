"""Columns that name rows or groups of rows, constants, and columns of mixed kinds."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from thetahat.data.columns.quantities import mixed_units
from thetahat.evaluation.findings.alone import explained_alone
from thetahat.evaluation.findings.finding import Finding, counted, listed
from thetahat.evaluation.findings.names import GROUP_WORDS, IDENTIFIER_WORDS, name_words
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable

LEAST_ROWS = 20
NEARLY_DISTINCT = 0.9
GROUPED = 0.1
"""Share of variance of the target that groups must explain to be reported."""


def is_identifier(column: CheckedColumn) -> bool:
    """Whether a column only names rows: all distinct text, or whole numbers that count rows."""
    n = len(column.values)
    present = n - int(column.missing.sum())
    if present <= LEAST_ROWS or column.kind == "date":
        return False
    if not column.is_number:
        words = [str(level).count(" ") + 1 for level in column.levels[:200]]
        is_text = bool(words) and float(np.mean(words)) >= 4
        distinct = column.n_distinct >= NEARLY_DISTINCT * present
        return distinct and not is_text and not mixed_units(column.levels)
    if column.n_distinct < present:
        return False
    values = column.values[~column.missing]
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    named = bool(IDENTIFIER_WORDS & set(name_words(column.name)))
    ordered = np.sort(values)
    return named or bool((np.diff(ordered) == 1).all())


def find_identifiers(table: CheckedTable, reported: Collection[str] = ()) -> list[Finding]:
    """Columns that name rows, and columns whose values name groups of rows.

    Columns that are `reported` hold the target or the time, so they do more than name rows.
    """
    found = []
    identifiers = [column.name for column in table.columns if is_identifier(column)]
    names = tuple(name for name in identifiers if name not in reported)
    if names:
        found.append(
            Finding(
                "identifiers",
                "warning",
                f"{listed(names, 5)} "
                f"{'looks like an identifier' if len(names) == 1 else 'look like identifiers'}: "
                "the values are nearly all distinct and only name rows.",
                "A model can memorise identifiers but not use them for new rows.",
                "Leave it out." if len(names) == 1 else "Leave them out.",
                names,
            )
        )
    for column in table.columns:
        if column.name not in identifiers and _names_groups(column, table):
            found.append(
                Finding(
                    "groups",
                    "warning",
                    f"{column.name} names {counted(column.n_distinct, 'group')} of rows, of "
                    f"{table.n_rows / column.n_distinct:.2g} rows on average, whose targets are "
                    "alike.",
                    "If rows of one group are in the training rows and in the held-out rows, the "
                    "score does not hold for rows of new groups.",
                    "If new rows come from new groups, keep the rows of a group in one fold: "
                    f"groups={column.name}.",
                    (column.name,),
                )
            )
    return found


def _names_groups(column: CheckedColumn, table: CheckedTable) -> bool:
    if table.target is None or column.kind == "date" or table.n_rows < LEAST_ROWS:
        return False
    words = set(name_words(column.name))
    if not IDENTIFIER_WORDS & words and not (words and words <= GROUP_WORDS):
        return False
    if not 5 <= column.n_distinct <= table.n_rows / 1.5:
        return False
    return explained_alone(column, table.response) >= GROUPED


def find_constants(table: CheckedTable) -> list[Finding]:
    """Columns with a single value, or without any."""
    if table.n_rows < 2:
        return []
    alike = tuple(
        column.name
        for column in table.columns
        if column.n_distinct == 0 or (column.n_distinct == 1 and not column.missing.any())
    )
    if not alike:
        return []
    return [
        Finding(
            "constants",
            "note",
            f"{listed(alike, 5)} {'has' if len(alike) == 1 else 'have'} the same value, or none, "
            "in every row.",
            "A constant column has no information about the target.",
            "Leave it out." if len(alike) == 1 else "Leave them out.",
            alike,
        )
    ]
