"""The rows on which settings are compared: samples of the training rows, and folds of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import get_tags

from thetahat.data.resampling import take_rows
from thetahat.evaluation.cross_fitting import columns_for
from thetahat.evaluation.folds import Fold, folds_of
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

N_FOLDS = 5
RARE = 10
"""Rows of every class that a sample keeps, where there are as many."""


@dataclass(frozen=True)
class TrainingRows:
    """Rows that may be used for tuning and fitting, with what decides how they are split."""

    X: Any
    y: Array
    classifier: bool
    groups: Array | None = None
    order: Array | None = None
    """Where later rows are predicted from earlier ones: the time of each row."""
    weights: Array | None = None
    """Row weights of the fits."""
    pairwise: bool = False
    """Whether X is a matrix between its rows, such as a precomputed kernel."""

    def __len__(self) -> int:
        return len(self.y)

    def of(self, model: Any) -> TrainingRows:
        """The rows as a model reads them: with all columns, or as a matrix between rows."""
        return replace(self, pairwise=bool(get_tags(model).input_tags.pairwise))

    def columns(self, rows: Array, training: Array) -> Any:
        """Some rows of X for a model that is fitted to the training rows."""
        taken = take_rows(self.X, rows)
        return columns_for(taken, training) if self.pairwise else taken

    def take(self, rows: Array) -> TrainingRows:
        """Some of the rows, by number."""
        return TrainingRows(
            self.columns(rows, rows),
            self.y[rows],
            self.classifier,
            None if self.groups is None else self.groups[rows],
            None if self.order is None else self.order[rows],
            None if self.weights is None else self.weights[rows],
            self.pairwise,
        )

    def weighted(self) -> dict[str, Array]:
        """The weights as an argument of ``fit``; nothing without weights."""
        return {} if self.weights is None else {"sample_weight": self.weights}

    def sample(self, size: int, seed: int) -> Array:
        """The numbers of `size` random rows, in ascending order; the classes keep their shares."""
        n = len(self)
        if size >= n:
            return np.arange(n)
        random = np.random.default_rng([seed, size])
        if not self.classifier:
            return np.sort(random.permutation(n)[:size])
        key = np.empty(n)
        for label in np.unique(self.y):
            rows = random.permutation(np.flatnonzero(self.y == label))
            key[rows] = (np.arange(rows.size) + random.random()) / rows.size
            key[rows[:RARE]] = -1.0
        return np.sort(np.argsort(key, kind="stable")[:size])

    def folds(self, seed: int) -> list[Fold]:
        """At most five folds; none if the rows are too few to be split.

        In the order of time, the last fold comes first: it has the most training rows.
        """
        n_folds = min(N_FOLDS, len(self) // 2)
        try:
            if self.order is not None:
                by_time = np.argsort(self.order, kind="stable")
                split = TimeSeriesSplit(n_folds).split(by_time)
                found = [(by_time[train], by_time[test]) for train, test in split][::-1]
                return [fold for fold in found if self._usable(fold)]
            if self.groups is None:
                return _shuffled(self.y, n_folds, self.classifier, seed)
            # Groups are split by the label of their first row, which is much faster than
            # scikit-learn's stratified folds of groups where most groups have one row.
            _, first, group = np.unique(self.groups, return_index=True, return_inverse=True)
            n_folds = min(n_folds, first.size)
            split = _shuffled(self.y[first], n_folds, self.classifier, seed)
            held = np.empty(first.size, dtype=np.intp)
            for number, (_, test) in enumerate(split):
                held[test] = number
            of_row = held[group]
            found = [
                (np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(n_folds)
            ]
            return [fold for fold in found if self._usable(fold)]
        except (DataError, ValueError):
            return []

    def _usable(self, fold: Fold) -> bool:
        labels = self.y[fold[0]]
        return not self.classifier or bool((labels != labels[:1]).any())


def _shuffled(y: Array, n_folds: int, classifier: bool, seed: int) -> list[Fold]:
    return folds_of(n_folds, y, y, classifier=classifier, random_state=seed)
