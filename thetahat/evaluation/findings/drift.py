"""Differences between training rows and other rows, column by column and all together."""

from __future__ import annotations

import numpy as np
from scipy.stats import fisher_exact, ks_2samp

from thetahat.evaluation.findings.adversarial import largest_by_chance, separability
from thetahat.evaluation.findings.design import plain_matrix
from thetahat.evaluation.findings.finding import Finding, counted, listed
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable
from thetahat.evaluation.findings.time_order import is_time

APART = 0.7
"""Area under the ROC curve from which the two tables count as different."""
VERY_APART = 0.9
SHIFTED = 0.1
"""Largest difference of distribution functions, or of category shares, that is not reported."""
UNLIKELY = 1e-4


def find_drift(train: CheckedTable, test: CheckedTable) -> list[Finding]:
    """How the columns of the rows to predict differ from those of the training rows."""
    pairs = [
        (column, other)
        for column in train.columns
        for other in test.columns
        if column.name == other.name
    ]
    lacking = [c.name for c in train.columns if c.name not in {o.name for o in test.columns}]
    found = []
    if lacking:
        found.append(
            Finding(
                "drift",
                "severe",
                f"The test rows miss {counted(len(lacking), 'column')}: {listed(lacking, 5)}.",
                "A model that uses these columns cannot predict the test rows.",
                "Add the columns to the test rows, or leave them out of the training rows.",
                tuple(lacking),
            )
        )
    pairs = [
        (a, b)
        for a, b in pairs
        if a.is_number == b.is_number and not is_identifier(a) and not is_time(a)
    ]
    if train.n_rows < 20 or test.n_rows < 20 or not pairs:
        return found
    moved = sorted(((_shift(a, b), a.name) for a, b in pairs), reverse=True)
    moved = [(shift, name) for shift, name in moved if shift >= SHIFTED]
    joined = [both_rows(a, b) for a, b in pairs]
    n = train.n_rows
    X = plain_matrix(joined, np.arange(n + test.n_rows))
    apart = separability(X[:n], X[n:])
    is_apart = apart >= max(APART, largest_by_chance(n, test.n_rows))
    new = [f"{a.name} ({len(values)})" for a, b in pairs if (values := _new_levels(a, b))]
    if not is_apart and not moved and not new:
        return found
    parts = [f"a model separates test rows from training rows with AUC {apart:.2f}"]
    if moved:
        parts.append("most different: " + listed([name for _, name in moved], 5))
    if new:
        parts.append("categories that are not in the training rows: " + listed(new, 5))
    severity = "note" if not is_apart else "severe" if apart >= VERY_APART else "warning"
    found.append(
        Finding(
            "drift",
            severity,
            f"The test rows differ from the training rows: {'; '.join(parts)}.",
            "Scores on held-out training rows do not hold for rows of another distribution.",
            "Find out what changed. If it is time, score with folds in the order of time.",
            tuple(name for _, name in moved),
        )
    )
    return found


def _shift(a: CheckedColumn, b: CheckedColumn) -> float:
    """The largest difference of distribution functions or shares; 0 if it may be chance."""
    gap = _gap_of_missing(a, b)
    if a.is_number:
        first, second = a.values[np.isfinite(a.values)], b.values[np.isfinite(b.values)]
        if not first.size or not second.size:
            return gap
        found = ks_2samp(first[:: 1 + first.size // 20_000], second[:: 1 + second.size // 20_000])
        return max(gap, float(found.statistic) if found.pvalue < UNLIKELY else 0.0)
    shares = []
    for column in (a, b):
        held, counts = np.unique(column.values[~column.missing], return_counts=True)
        total = max(1, int(counts.sum()))
        shares.append({column.levels[int(k)]: c / total for k, c in zip(held, counts, strict=True)})
    names = {*shares[0], *shares[1]}
    differences = [abs(shares[0].get(name, 0) - shares[1].get(name, 0)) for name in names]
    n = min(len(a.values), len(b.values))
    largest = max(differences, default=0.0)
    return max(gap, largest if largest * np.sqrt(n) > 3 else 0.0)


def _gap_of_missing(a: CheckedColumn, b: CheckedColumn) -> float:
    """The difference of the shares of missing values; 0 if it may be chance."""
    table = [[int(rows.sum()), int((~rows).sum())] for rows in (a.missing, b.missing)]
    if fisher_exact(table).pvalue >= UNLIKELY:
        return 0.0
    return abs(float(a.missing.mean()) - float(b.missing.mean()))


def both_rows(a: CheckedColumn, b: CheckedColumn) -> CheckedColumn:
    """The rows of both tables, with one set of codes."""
    if a.is_number:
        return CheckedColumn(a.name, a.kind, np.concatenate([a.values, b.values]))
    place = {level: code for code, level in enumerate(a.levels)}
    for level in b.levels:
        place.setdefault(level, len(place))
    codes = np.array([place[level] for level in b.levels] + [-1], dtype=np.int64)[b.values]
    return CheckedColumn(a.name, a.kind, np.concatenate([a.values, codes]), tuple(place))


def _new_levels(a: CheckedColumn, b: CheckedColumn) -> set[object]:
    return set() if a.is_number else set(b.levels) - set(a.levels)
