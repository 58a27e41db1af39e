"""Columns that determine the target exactly: the same order as numbers, or one block per class.

Shares of variance depend on the largest targets and need many rows. An exact correspondence needs
neither: a column of m distinct values has the order of the target, or its reverse, by chance with
probability of at most 2/m!; and n distinct values separate K classes of n_k rows into K blocks with
probability K! Π_k n_k!/n!.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from thetahat.evaluation.findings.table import CheckedColumn
from thetahat.foundation.types import Array

LEAST_DISTINCT = 8
"""Distinct values from which an equal order is evidence."""
LEAST_ROWS = 10
"""Rows from which blocks of classes are evidence."""
SMALL = 20
"""Rows below which `CHANCE_SMALL` holds: shares of variance are unreliable there."""
CHANCE, CHANCE_SMALL = 1e-3, 0.03
"""Largest probability by chance, over all columns, of what is reported."""


def same_order(column: CheckedColumn, target: CheckedColumn, n_columns: int) -> int:
    """1 or −1 if the column rises or falls with the target, in all rows; else 0.

    One of them may be coarser: values that are rounded have the same order.
    """
    present = ~column.missing
    if not column.is_number or int(present.sum()) < LEAST_DISTINCT:
        return 0
    x, y = column.coded[0][present], target.coded[0][present]
    pairs = np.unique(x * np.int64(target.coded[1]) + y)
    x, y = np.divmod(pairs, target.coded[1])  # distinct pairs, by x and then by y
    n_x, n_y = np.unique(x).size, np.unique(y).size
    fewest = min(n_x, n_y)
    if fewest < LEAST_DISTINCT or pairs.size > max(n_x, n_y):
        return 0
    if np.log(2 * n_columns) - gammaln(fewest + 1.0) > np.log(CHANCE_SMALL):
        return 0
    steps = np.diff(y)
    return int((steps >= 0).all()) - int((steps <= 0).all())


def one_block_per_class(column: CheckedColumn, labels: Array, n_columns: int) -> bool:
    """Whether the values of every class lie beside each other, and no value has two classes."""
    present = ~column.missing
    n = int(present.sum())
    if n < LEAST_ROWS:
        return False
    x, y = column.coded[0][present], labels[present]
    held, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    n_classes = held.size
    if n_classes < 2 or not (column.is_number or np.unique(x).size == n_classes):
        return False
    pairs = np.unique(x * np.int64(n_classes) + y.ravel())
    x, y = np.divmod(pairs, n_classes)
    if (np.diff(x) == 0).any() or np.count_nonzero(np.diff(y)) != n_classes - 1:
        return False
    log_chance = gammaln(n_classes + 1.0) + gammaln(counts + 1.0).sum() - gammaln(n + 1.0)
    limit = CHANCE_SMALL if n < SMALL else CHANCE
    return bool(log_chance + np.log(n_columns) <= np.log(limit))
