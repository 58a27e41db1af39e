"""Adversarial validation: whether a model can separate two sets of rows by their columns."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.ensemble.forest.random_forest import RandomForestClassifier

MOST_ROWS = 3000
SURE = 3.0
"""Number of standard errors from which an area is not due to chance."""


def separability(first: Array, second: Array) -> float:
    """Area under the ROC curve of a forest that separates two sets of rows; 0.5 if it cannot.

    The forest is fitted on half of the rows of each set, and scored on the other half.
    """
    random = np.random.default_rng(0)
    sets = [rows[random.permutation(len(rows))[:MOST_ROWS]] for rows in (first, second)]
    if min(len(rows) for rows in sets) < 20 or not first.shape[1]:
        return 0.5
    X = np.concatenate(sets)
    y = np.repeat([0, 1], [len(rows) for rows in sets])
    train = np.concatenate([np.arange(len(rows)) % 2 == 0 for rows in sets])
    forest = RandomForestClassifier(n_estimators=40, max_depth=8, random_state=0)
    score = forest.fit(X[train], y[train]).predict_proba(X[~train])[:, 1]
    return area(score, y[~train] == 1)


def largest_by_chance(n_first: int, n_second: int) -> float:
    """The area that `separability` rarely exceeds for sets of so many rows that do not differ.

    Without a difference, the area over m and n rows has the variance (m + n + 1)/(12 m n).
    """
    m, n = (max(1, min(rows, MOST_ROWS) // 2) for rows in (n_first, n_second))
    return float(0.5 + SURE * np.sqrt((m + n + 1) / (12 * m * n)))


def area(score: Array, positive: Array) -> float:
    """Area under the ROC curve: the probability of the right order, ties counting half."""
    from scipy.stats import rankdata

    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if not n_positive or not n_negative:
        return 0.5
    ranks = rankdata(score)
    above = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))
