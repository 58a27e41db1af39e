"""Folds for out-of-fold predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.fold_routing import splits_of
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

Fold = tuple[Array, Array]


def folds_of(cv: Any, y: Array, *, classifier: bool, who: str) -> list[Fold]:
    """(train, test) rows of every fold; each row is in exactly one test set."""
    n = len(y)
    count = 5 if cv is None else cv
    if isinstance(count, int | np.integer) and not isinstance(count, bool):
        if not 2 <= count <= n:
            raise DataError(
                f"{who}: cv={count} folds of n_samples={n}: cv must be at least 2 and each fold "
                f"needs a row. Use cv={min(max(2, n), 5)}, or more rows."
            )
        smallest = int(np.bincount(y.astype(np.intp)).min()) if classifier else count
        if smallest < count:
            # Stratification needs at least as many rows per class as there are folds.
            classifier = False
    found = splits_of(cv, np.zeros((n, 1)), y, who=who, classifier=classifier)
    folds = [(np.asarray(a), np.asarray(b)) for a, b in found]
    held = np.concatenate([test for _, test in folds]) if folds else np.empty(0, dtype=int)
    if len(held) != n or len(np.unique(held)) != n:
        raise ParameterError(
            f"{who}: cv={cv!r} holds out {len(np.unique(held))} of {n} rows, {len(held)} times in "
            "total; each must be held out once, so that it has one prediction. Use a partition, "
            "such as KFold."
        )
    return folds
