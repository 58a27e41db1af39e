"""Training rows and held-out rows of every fold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from thetahat.data.column_targets import one_column
from thetahat.data.columns.variables import is_missing
from thetahat.data.resampling import bootstrap_indices
from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

Fold = tuple[Array, Array]

RESAMPLES = 25
"""Number of bootstrap resamples; each row is then held out about nine times."""


def folds_of(
    cv: Any, X: Any, y: Any, *, classifier: bool, groups: Any = None, random_state: Any = 0
) -> list[Fold]:
    """The (train, test) row numbers of every fold.

    An integer is the number of shuffled folds, stratified for classifiers, with the rows of a group
    in one fold; "bootstrap" trains on
    rows drawn with replacement and holds out those not drawn, `RESAMPLES` times. Anything else is
    passed to scikit-learn: a splitter, or an iterable of pairs.
    """
    n = rows_in(X)
    labels = None if y is None else np.asarray(one_column(y))
    # Rows with several labels are not stratified.
    classifier = classifier and labels is not None and labels.ndim == 1
    if isinstance(cv, bool | np.bool_):
        raise ParameterError(f"cv={cv} must be a number of folds, a splitter or 'bootstrap'.")
    if isinstance(cv, str):
        cv = _resamples(cv, n, random_state)
    if isinstance(cv, int | np.integer):
        if not 2 <= cv <= n:
            raise DataError(
                f"cv={cv} folds of {n} rows: there must be at least 2 folds, with at least one row "
                f"each. Use cv={min(max(2, n), 5)}."
            )
        stratified = classifier and _smallest_class(labels) >= cv
        if groups is None:
            kind = StratifiedKFold if stratified else KFold
        else:
            _require_groups(groups, int(cv), n)
            kind = StratifiedGroupKFold if stratified else GroupKFold
        cv = kind(int(cv), shuffle=True, random_state=random_state)
    try:
        splitter = check_cv(cv, labels, classifier=classifier)
    except ValueError:
        raise ParameterError(
            f"cv={cv!r} must be a number of folds, a splitter, an iterable of (train, test) row "
            "numbers, or 'bootstrap'."
        ) from None
    split = splitter.split(np.zeros((n, 1)), labels, groups)
    found = [
        (_row_numbers(train, n, number), _row_numbers(test, n, number))
        for number, (train, test) in enumerate(split)
    ]
    if not found:
        raise ParameterError("cv has no folds. Give a number of folds, or a splitter.")
    if classifier and labels is not None:
        _require_two_classes(found, labels)
    return found


def _require_groups(groups: Any, cv: int, n: int) -> None:
    found = np.asarray(groups)
    if found.shape != (n,):
        raise DataError(
            f"groups has shape {found.shape}, but X has {n} rows. Give one group per row."
        )
    different = np.unique(found).size
    if different < cv:
        raise DataError(
            f"cv={cv} folds of {different} group{'s' * (different != 1)}: the rows of a group stay "
            f"in one fold, so there can be at most {different}. Use fewer folds."
        )


def _row_numbers(rows: Any, n: int, number: int) -> Array:
    """Row numbers of a fold, given as row numbers or as a mask."""
    found = np.asarray(rows)
    if found.dtype == bool and found.shape == (n,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise DataError(
            f"Fold {number} of cv holds {found.size} rows as {found.dtype} of shape {found.shape}. "
            f"Give at least one training row and one test row, as row numbers or as a mask of "
            f"length {n}."
        )
    if found.min() < -n or found.max() >= n:
        raise DataError(
            f"Fold {number} of cv contains row {found.min() if found.min() < 0 else found.max()}, "
            f"but X has {n} rows, counted from 0."
        )
    return found % n if found.min() < 0 else found


def _resamples(cv: str, n: int, random_state: Any) -> list[Fold]:
    if cv != "bootstrap":
        raise ParameterError(f"cv={cv!r} must be a number of folds, a splitter or 'bootstrap'.")
    random = generator(random_state)
    found = [bootstrap_indices(n, random_state=random) for _ in range(RESAMPLES)]
    return [(rows.drawn, rows.out_of_bag) for rows in found if rows.out_of_bag.size]


def rows_in(X: Any) -> int:
    """The number of rows of an array, a table or a list."""
    if isinstance(X, Source):
        raise CapabilityError(
            "X is a source that is read block by block, but rows have to be in memory to be split "
            "into training and held-out rows. Load them with X, y, sample_weight = "
            "source.arrays()."
        )
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def targets_of(
    X: Any, y: Any, who: str, *, several: bool = True, models: Iterable[Any] = ()
) -> tuple[Any, Array]:
    """The targets, a single column as (n,), as they are and as an array; one for each row of X.

    Without targets, the array has shape (n, 0); then no model may be one that needs them.
    """
    n_rows = rows_in(X)
    if y is None:
        for model in models:
            if is_classifier(model) or is_regressor(model):
                kind = "classifier" if is_classifier(model) else "regressor"
                raise DataError(
                    f"{who}: {type(model).__name__} is a {kind}, which needs targets, but y is "
                    "None. Give one target per row."
                )
        return None, np.empty((n_rows, 0))
    given = one_column(y)
    targets = np.asarray(given)
    missing = _missing(targets)
    if missing.any():
        raise DataError(
            f"{who}: Input y contains NaN: the target of row {int(np.argmax(missing))} is "
            "missing. Leave out the rows without a target."
        )
    if targets.shape[:1] != (n_rows,) or (targets.ndim > 1 and not several):
        raise DataError(
            f"{who}: X has {n_rows} rows, but y has shape {targets.shape}. Give one target per row."
        )
    return given, targets


def _missing(targets: Array) -> Array:
    """Whether the target of each row, or one of several, is missing."""
    if targets.dtype.kind == "O" and targets.ndim == 1:
        return np.array([is_missing(each) for each in targets], dtype=bool)
    if targets.dtype.kind != "f" or not targets.ndim:
        return np.zeros(1, dtype=bool)
    return np.asarray(np.isnan(targets).any(axis=tuple(range(1, targets.ndim))))


def rows_and_targets(source: Source, y: Any, sample_weight: Any) -> tuple[Array, Array | None]:
    """A table without columns that has the rows of a source, and its targets, which are loaded."""
    if y is not None or sample_weight is not None:
        raise DataError(
            "evaluate: a source holds its own y and sample_weight. Name them when it is opened: "
            "th.scan(path, target=..., weight=...)."
        )
    codes, _ = target_arrays(source)
    return np.empty((source.n_rows, 0)), None if codes is None else source.target_values(codes)


def are_a_partition(folds: list[Fold], n: int) -> bool:
    """Whether every row is held out exactly once."""
    return sum(len(test) for _, test in folds) == n and none_twice([test for _, test in folds])


def none_twice(held: list[Array]) -> bool:
    """Whether no row is held out twice."""
    rows = np.sort(np.concatenate(held))  # much faster than np.unique
    return not (rows[1:] == rows[:-1]).any()


def _smallest_class(y: Any) -> int:
    return int(np.unique(np.asarray(y), return_counts=True)[1].min())


def _require_two_classes(folds: list[Fold], y: Array) -> None:
    for number, (train, _) in enumerate(folds):
        labels = y[train]
        if (labels == labels[:1]).all():
            only = np.unique(labels).tolist()
            raise DataError(
                f"The training rows of fold {number} have a single class, {only[0]!r}. Use fewer "
                "folds, stratified folds, or more rows of the other classes."
            )
