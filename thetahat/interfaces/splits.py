"""How the rows of a problem are split: shuffled, in the order of time, or by groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from thetahat.evaluation.findings.copies import Copied, copied_rows
from thetahat.evaluation.findings.table import CheckedTable
from thetahat.evaluation.findings.time_order import time_order
from thetahat.evaluation.folds import Fold
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Asked:
    """What the user says about the order and the groups of the rows."""

    time: str | None = None
    group: str | None = None
    no_time: bool = False

    def __post_init__(self) -> None:
        if self.time is not None and self.no_time:
            raise ParameterError("--time and --no-time contradict each other. Give one of them.")


@dataclass(frozen=True)
class Splits:
    """The folds, and the reason for them."""

    folds: Any
    """A number of shuffled folds, or the training and the held-out rows of every fold."""
    n_folds: int
    words: str
    """Description of the folds: "5 folds in the order of date"."""
    groups: Array | None = None
    time: str | None = None
    """The column in whose order the folds are."""
    copies: bool = False
    """Whether copies of a row are kept in one fold."""
    copied: Copied | None = None

    @property
    def are_shuffled(self) -> bool:
        return self.groups is None and self.time is None


def plan_splits(
    table: CheckedTable, cv: int, asked: Asked, seed: int, group: Array | None = None
) -> Splits:
    """Folds by groups if they are given, in order of time if that matters, otherwise shuffled.

    `table` has all rows of the problem. Copies of a row stay in one fold.
    """
    copied = copied_rows(table)
    groups, words, copies = group, f"groups of {asked.group} kept together", False
    if group is None and copied is not None:
        groups, words, copies = copied.groups, "copies of a row kept together", True
    found = None if asked.no_time else time_order(table, asked.time)
    if found is not None and (asked.time is not None or (group is None and found.is_informative)):
        folds = time_folds(found.column.values, cv, groups, _labels(table))
        name = found.column.name
        return Splits(
            folds,
            len(folds),
            f"{_folds(len(folds))} in the order of {name}",
            groups,
            name,
            copies,
            copied,
        )
    if groups is None:
        return Splits(cv, cv, _folds(cv), copied=copied)
    n_groups = np.unique(groups).size
    if n_groups < 2:
        raise DataError(
            "All rows are copies of one row, so no fold can be held out. Give more distinct rows."
            if copies
            else f"--group {asked.group}: all rows are in one group, so no fold can be held out. "
            "Name another column."
        )
    n_folds = min(cv, n_groups)
    labels = _labels(table)
    kind = GroupKFold if labels is None else StratifiedGroupKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed)
    nothing = np.zeros((table.n_rows, 1))
    folds = [fold for fold in splitter.split(nothing, labels, groups) if _usable(fold, labels)]
    if len(folds) < 2:
        raise DataError(
            "Copies of a row are kept in one fold, and without them too few classes are left to "
            "train on. Give at least two distinct rows of two or more classes."
            if copies
            else f"--group {asked.group}: too few classes are in more than one group, so the other "
            "groups hold a single class. Name another column."
        )
    return Splits(
        folds, len(folds), f"{_folds(len(folds))}, {words}", groups, copies=copies, copied=copied
    )


def time_folds(
    time: Array, n_folds: int, groups: Array | None = None, labels: Array | None = None
) -> list[Fold]:
    """Training rows before the held-out rows: n_folds + 1 blocks of time, all but the first held.

    Rows of the same time are never separated. Rows without a time are training rows. A held-out
    row whose group is among the training rows is left out.
    """
    known = np.flatnonzero(~np.isnan(time))
    order = known[np.argsort(time[known], kind="stable")]
    sorted_time = time[order]
    ends = np.linspace(0, order.size, n_folds + 2)[1:-1].astype(np.int64)
    cuts = np.unique(np.searchsorted(sorted_time, sorted_time[np.minimum(ends, order.size - 1)]))
    cuts = np.append(cuts[cuts > 0], order.size)
    undated = np.flatnonzero(np.isnan(time))
    folds = []
    for begin, end in pairwise(cuts.tolist()):
        train, held = np.concatenate([undated, order[:begin]]), order[begin:end]
        if groups is not None:
            held = held[~np.isin(groups[held], groups[train])]
        if held.size and _usable((train, held), labels):
            folds.append((np.sort(train), np.sort(held)))
    if not folds:
        raise DataError(
            "The rows cannot be split in the order of time: the earlier rows have a single class "
            "or there are too few times. Use --no-time to shuffle them."
        )
    return folds


def _usable(fold: Fold, labels: Array | None) -> bool:
    """Whether the training rows have at least two classes."""
    return labels is None or bool((labels[fold[0]] != labels[fold[0][0]]).any())


def _labels(table: CheckedTable) -> Array | None:
    if table.task != "classification" or table.target is None:
        return None
    return table.target.coded[0]


def _folds(number: int) -> str:
    return f"{number} fold{'s' * (number != 1)}"
