"""Words of a column that differ only in capital letters and blanks: "Yes", "yes" and "YES "."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.finding import Finding, listed
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable


def find_spellings(table: CheckedTable) -> list[Finding]:
    """Classes of the target, and categories of columns, that are written in several ways."""
    found = []
    for column in table.columns:
        several = [] if is_identifier(column) else _several(column)
        if several:
            found.append(
                Finding(
                    "spelling",
                    "note",
                    f"{column.name} holds the same words in several spellings: "
                    f"{listed(several, 3)}.",
                    "Each spelling is a category of its own, with fewer rows.",
                    "Write them alike.",
                    (column.name,),
                )
            )
    if table.target is None or table.task != "classification":
        return found
    several = _several(table.target)
    if several:
        found.append(
            Finding(
                "spelling",
                "warning",
                f"{table.target.name} holds the same class in several spellings: "
                f"{listed(several, 3)}.",
                "Each spelling is a class of its own; to predict the other one counts as an error.",
                "Write them alike.",
                (table.target.name,),
            )
        )
    return found


def _several(column: CheckedColumn) -> list[str]:
    """Groups of words that are alike without capital letters and blanks."""
    if column.kind != "category":
        return []
    alike: dict[str, list[str]] = {}
    held = np.unique(column.values[~column.missing]).tolist()
    for level in (column.levels[code] for code in held):
        if isinstance(level, str):
            alike.setdefault(" ".join(level.split()).casefold(), []).append(level)
    return [" = ".join(map(repr, words)) for words in alike.values() if len(words) > 1]
