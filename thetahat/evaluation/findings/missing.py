"""Missing values: how many, in which columns together, and whether they depend on the target."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.alone import explained_by_codes
from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted, listed
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable

MANY = 0.5
"""Share of missing values from which a column is reported."""
DEPENDS = 0.02
"""Share of variance of the target that missingness must explain to be reported."""
A_LEAK = 0.95
"""From here on it is reported as a leak."""
SURE = 15.0
"""And its F statistic, about the square of four standard errors."""
LEAST = 10


def find_missing(table: CheckedTable) -> list[Finding]:
    """Gaps, gaps that depend on the target, and columns whose gaps coincide."""
    gaps = [column for column in table.columns if LEAST <= column.missing.sum() < table.n_rows]
    return [*_many(gaps, table), *_dependent(gaps, table), *_together(gaps, table)]


def _many(gaps: list[CheckedColumn], table: CheckedTable) -> list[Finding]:
    names = tuple(c.name for c in gaps if c.missing.mean() >= MANY)
    if not names:
        return []
    worst = max(float(c.missing.mean()) for c in gaps)
    return [
        Finding(
            "missing",
            "note",
            f"{counted(len(names), 'column')} {'is' if len(names) == 1 else 'are'} missing in half "
            f"of the rows or more (up to {worst:.0%}): {listed(names, 5)}.",
            "Filled-in values carry little information; often only the fact that a value is "
            "missing is informative.",
            "Find out why the values are missing before the columns are used.",
            names,
        )
    ]


def _dependent(gaps: list[CheckedColumn], table: CheckedTable) -> list[Finding]:
    if table.target is None:
        return []
    names = []
    for column in gaps:
        share = explained_by_codes(
            column.missing.astype(np.int64), 2, table.response, ordered=False
        )
        if DEPENDS <= share < A_LEAK and share / (1 - share) * table.n_rows >= SURE:
            names.append((share, column.name))
    if not names:
        return []
    names.sort(reverse=True)
    shown = [f"{name} ({share:.0%})" for share, name in names]
    return [
        Finding(
            "missing",
            "warning",
            f"Whether a value is missing depends on {table.target.name} (share of its variation): "
            f"{listed(shown, 5)}.",
            "Values that are missing for a reason are a signal, or a leak if they are filled in "
            "after the target is known.",
            "Find out when the values are recorded. Models of thetahat use the fact that a value "
            "is missing.",
            tuple(name for _, name in names),
        )
    ]


def _together(gaps: list[CheckedColumn], table: CheckedTable) -> list[Finding]:
    patterns: dict[bytes, list[CheckedColumn]] = {}
    for column in gaps:
        patterns.setdefault(np.packbits(column.missing).tobytes(), []).append(column)
    found = []
    for columns in patterns.values():
        if len(columns) < 2:
            continue
        rows = np.flatnonzero(columns[0].missing)
        names = tuple(column.name for column in columns)
        found.append(
            Finding(
                "missing",
                "note",
                f"{listed(names, 5)} are missing in the same {counted(rows.size, 'row')}.",
                "Columns that are missing together come from one source, and which of their "
                "values are missing is the same information.",
                "Check whether these rows come from another source or process.",
                names,
                tuple(table.numbered(rows[:ROWS_KEPT]).tolist()),
                int(rows.size),
            )
        )
    return found
