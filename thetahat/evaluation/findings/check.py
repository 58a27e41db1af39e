"""Look at the rows before a model is fitted: copies, leaks, time, identifiers, classes, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.estimator.distributed.functions import needs_memory
from thetahat.evaluation.findings.alike import find_alike
from thetahat.evaluation.findings.classes import find_classes, find_constant_target
from thetahat.evaluation.findings.copies import Copied, copied_rows, find_copies
from thetahat.evaluation.findings.drift import find_drift
from thetahat.evaluation.findings.finding import Finding, Findings, by_severity
from thetahat.evaluation.findings.identifiers import find_constants, find_identifiers
from thetahat.evaluation.findings.leaks import find_leaks
from thetahat.evaluation.findings.missing import find_missing
from thetahat.evaluation.findings.outliers import find_outliers
from thetahat.evaluation.findings.seen import find_seen
from thetahat.evaluation.findings.spellings import find_spellings
from thetahat.evaluation.findings.table import CheckedTable, checked_table
from thetahat.evaluation.findings.text_numbers import find_text_numbers
from thetahat.evaluation.findings.time_order import find_time

FINDERS = (
    find_constants,
    find_text_numbers,
    find_spellings,
    find_constant_target,
    find_classes,
    find_missing,
    find_outliers,
    find_alike,
)


@needs_memory
def check(
    X: Any,
    y: Any = None,
    *,
    task: str = "auto",
    names: Sequence[str] | None = None,
    time: str | None = None,
    test: Any = None,
) -> Findings:
    """Check data for problems that make scores misleading: copies, leaks, identifiers and more.

    Formula: a column leaks if it alone explains R² = 1 − Σ_i (y_i − ŷ_i)²/Σ_i (y_i − ȳ)² ≥ 0.99 of
    the target or of its ranks, where ŷ_i is the mean of other rows with the same or next values,
    or if it determines the target exactly, by its order or by one block of values per class; every
    other finder states its own rule. Nothing is changed, and no row or column is left out. Cost:
    O(n d log n) time and O(n d) memory; neighbours, forests and residuals use some thousand rows.

    Parameters
    ----------
    X : array-like, sparse, table
        The rows. Columns of tables may hold numbers, text, categories or dates, and gaps. An index
        of dates counts as a column.
    y : array-like, optional
        The targets. Without them, only the columns are checked. Rows without a target are left out
        of the check.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target holds classes or numbers. "auto" takes text and at most ten distinct
        whole numbers for classes.
    names : sequence of str, optional
        The names of the columns, used in the findings. By default the names of the table, or x0,
        x1, ….
    time : str, optional
        The name of the column by whose order the folds are made. Its order is then no longer
        reported as a severe finding.
    test : array-like, sparse, table, optional
        Further rows, such as those to predict. Their columns are compared with those of X, and
        rows that are copies of rows of X are reported.

    Returns
    -------
    Findings

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> y = random.normal(size=200)
    >>> X = np.column_stack([random.normal(size=200), 3.0 * y + 1.0])
    >>> found = th.check(X, y, names=["age", "score"])
    >>> found.severe[0].check, found.severe[0].columns
    ('leaks', ('score',))
    """
    table = checked_table(X, y, task=task, names=names)
    others = None if test is None else checked_table(test, names=names)
    return check_table(table, time=time, test=others)


def check_table(
    table: CheckedTable,
    *,
    time: str | None = None,
    test: CheckedTable | None = None,
    copied: Copied | None = None,
) -> Findings:
    """The same for a table that was read before, and whose copies may be known."""
    copied = copied or copied_rows(table)
    once = table
    if copied is not None:  # a copy would predict the other, from any column
        once = table.chosen(np.sort(np.unique(copied.groups, return_index=True)[1]))
    leaks = find_leaks(once)
    times = find_time(once, time)
    severe = [each for each in leaks if each.severity == "severe"]
    reported = {name for each in [*severe, *times] for name in each.columns}
    found: list[Finding] = [*leaks, *find_copies(table, copied), *times]
    if test is not None:
        found += [*find_seen(once, test), *find_drift(once, test)]
    found += find_identifiers(once, reported)
    for finder in FINDERS:
        found += finder(once)
    return Findings(by_severity(found), table.n_rows, len(table.columns), table.task)
