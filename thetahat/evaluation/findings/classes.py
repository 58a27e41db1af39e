"""The classes of a target: their balance, rare ones, and a metric that suits them."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted, listed
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable

UNEVEN = 0.8
"""Share of the most frequent class from which accuracy is not informative."""
EMPTY = 0.9
"""Share from which accuracy is useless: a constant has at least this accuracy."""
FEW = 10
"""Rows of a class below which it is rare."""


def class_names(target: CheckedColumn) -> list[str]:
    """The labels of the codes of a target."""
    held = np.unique(target.values[~target.missing])
    if target.is_number:
        return [f"{value:g}" for value in held]
    return [str(target.levels[int(code)]) for code in held]


def suitable_metric(table: CheckedTable) -> str:
    """The metric for the classes of a target: accuracy, unless one class has nearly all rows.

    The area under the ROC curve does not depend on a threshold or on the share of the classes.
    """
    assert table.target is not None
    codes, n_classes = table.target.coded
    share = np.bincount(codes, minlength=n_classes).max() / max(1, table.n_rows)
    if share < EMPTY:
        return "accuracy"
    return "roc_auc" if n_classes == 2 else "balanced_accuracy"


def find_constant_target(table: CheckedTable) -> list[Finding]:
    """A target with the same value in every row."""
    if table.target is None or table.n_rows < 2 or table.target.n_distinct != 1:
        return []
    name = table.target.name
    return [
        Finding(
            "target",
            "severe",
            f"{name} has the same value in all {table.n_rows:,} rows.",
            "There is nothing to learn: a constant predicts every row, whatever the columns hold.",
            f"Check how {name} was read, and add rows with other values.",
            (name,),
        )
    ]


def find_classes(table: CheckedTable) -> list[Finding]:
    """Classes with nearly all rows, and classes with few."""
    if table.task != "classification" or table.target is None or table.n_rows < 2 * FEW:
        return []
    codes, n_classes = table.target.coded
    counts = np.bincount(codes, minlength=n_classes)
    names = class_names(table.target)
    found = []
    share = counts.max() / table.n_rows
    if share >= UNEVEN and n_classes > 1:
        top = names[int(counts.argmax())]
        metric = suitable_metric(table)
        better = "balanced_accuracy, average_precision or roc_auc"
        found.append(
            Finding(
                "classes",
                "warning" if share >= EMPTY else "note",
                f"{share:.1%} of the rows have {table.target.name} = {top}.",
                f"A model that always predicts {top} has accuracy {share:.1%}, so accuracy hardly "
                "shows whether anything was learned.",
                f"Use {better if metric == 'accuracy' else metric} instead of accuracy.",
                (table.target.name,),
            )
        )
    rare = np.flatnonzero(counts < FEW)
    if rare.size and n_classes > 1:
        rows = np.flatnonzero(np.isin(codes, rare))
        shown = [f"{names[k]} ({counts[k]})" for k in rare]
        found.append(
            Finding(
                "classes",
                "warning",
                f"{counted(rare.size, 'class', 'classes')} of {table.target.name} "
                f"{'has' if rare.size == 1 else 'have'} fewer than {FEW} rows: "
                f"{listed(shown, 5)}.",
                "A model cannot be trained or scored reliably with so few rows.",
                "Collect more rows of these classes, or join them with similar ones.",
                (table.target.name,),
                tuple(table.numbered(rows[:ROWS_KEPT]).tolist()),
                int(rows.size),
            )
        )
    return found
