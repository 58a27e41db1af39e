"""Columns with the same information: correlations of nearly ±1, and equal categories."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.design import plain_matrix
from thetahat.evaluation.findings.finding import Finding, listed
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.table import CheckedTable
from thetahat.evaluation.findings.time_order import is_time

SAME = 0.999
"""Absolute correlation from which two columns count as the same."""
MOST_ROWS = 20_000
MOST_COLUMNS = 1000


def find_alike(table: CheckedTable) -> list[Finding]:
    """Pairs of columns that are nearly proportional, or equal in every row."""
    pairs = [*_correlated(table), *_equal_categories(table)]
    if not pairs:
        return []
    shown = [f"{first} and {second}" for first, second in pairs]
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    return [
        Finding(
            "alike",
            "note",
            f"Some columns contain the same information: {listed(shown, 4)}.",
            "Importances and coefficients of such columns are shared between them in an arbitrary "
            "way.",
            "Keep one of them if importances or coefficients are to be read.",
            names,
        )
    ]


def _correlated(table: CheckedTable) -> list[tuple[str, str]]:
    numbers = [
        column
        for column in table.columns
        if column.is_number
        and column.n_distinct > 2
        and not is_identifier(column)
        and not is_time(column)
    ][:MOST_COLUMNS]
    if len(numbers) < 2 or table.n_rows < 10:
        return []
    step = max(1, table.n_rows // MOST_ROWS)
    rows = np.arange(0, table.n_rows, step)
    kept, parts = [], []
    for column in numbers:
        part = plain_matrix([column], rows)
        if part.shape[1] and abs(part[:, 0].std() - 1) < 1e-6:
            kept.append(column.name)
            parts.append(part[:, 0])
    if len(parts) < 2:
        return []
    Z = np.column_stack(parts)
    close = np.abs(Z.T @ Z) / len(rows) >= SAME
    return [(kept[i], kept[j]) for i, j in np.argwhere(np.triu(close, 1))]


def _equal_categories(table: CheckedTable) -> list[tuple[str, str]]:
    """Columns of categories whose values correspond one to one."""
    found = []
    first: dict[bytes, str] = {}
    for column in table.columns:
        if column.is_number or column.n_distinct < 2 or is_identifier(column):
            continue
        codes, _ = column.coded
        _, begins, which = np.unique(codes, return_index=True, return_inverse=True)
        by_first = np.argsort(np.argsort(begins))[which.ravel()].astype(np.int64)
        key = by_first.tobytes()
        if key in first:
            found.append((first[key], column.name))
        else:
            first[key] = column.name
    return found
