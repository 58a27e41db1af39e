"""Test rows that are copies of training rows.

As within one table, equal rows of a few discrete columns are coincidences: under independence a
training row and a test row coincide with probability Π_j Σ_v p_jv q_jv, and copies are reported
when there are many more pairs of equal rows than that.
"""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.copies import FEW_PAIRS, SEVERE_SHARE, TOO_MANY, equal_rows
from thetahat.evaluation.findings.drift import both_rows
from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.table import CheckedTable


def find_seen(train: CheckedTable, test: CheckedTable) -> list[Finding]:
    """Test rows that equal a training row in all columns of both but identifiers."""
    others = {column.name: column for column in test.columns}
    pairs = [
        (column, others[column.name])
        for column in train.columns
        if column.name in others and not is_identifier(column)
    ]
    n, n_test = train.n_rows, test.n_rows
    if not pairs or not n or not n_test or any(a.is_number != b.is_number for a, b in pairs):
        return []
    both = CheckedTable(tuple(both_rows(a, b) for a, b in pairs), n + n_test)
    groups, n_groups = equal_rows(both)
    in_train = np.bincount(groups[:n], minlength=n_groups)
    seen = np.flatnonzero(in_train[groups[n:]] > 0)
    by_chance = float(n) * n_test
    for column in both.columns:
        codes, n_codes = column.coded
        first, second = (np.bincount(some, minlength=n_codes) for some in (codes[:n], codes[n:]))
        by_chance *= float((first / n) @ (second / n_test))
    if float(in_train[groups[n:]].sum()) <= TOO_MANY * max(FEW_PAIRS, by_chance):
        return []
    one = seen.size == 1
    return [
        Finding(
            "copies",
            "severe" if seen.size >= SEVERE_SHARE * n_test else "warning",
            f"{counted(int(seen.size), 'test row')} {'equals' if one else 'equal'} a training row "
            f"in all columns, {seen.size / n_test:.1%} of the test rows.",
            "The targets of these rows were used in training, so a score on them is too high.",
            "Remove these rows from the training rows, or do not score on them.",
            rows=tuple(test.numbered(seen[:ROWS_KEPT]).tolist()),
            n_rows=int(seen.size),
        )
    ]
