"""Shapley values of any model, by sampling orders of the columns.

In a draw, the columns of a row of the background are replaced one by one, in a random order, by
those of the row that is explained. The change of the prediction at each step is the contribution of
that column, and the steps add up to f(x) − f(background row). All rows share the draws, so that the
base is the same for all of them. Every order is used forwards and backwards, which removes the
first-order part of the sampling error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from thetahat.data.columns.replaced_column import column_labels, column_of, exchanged
from thetahat.data.resampling import take_rows
from thetahat.evaluation.contributions.result import Contributions
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array


def sampled(model: Any, X: Any, background: Any, n_orders: int, random_state: Any) -> Contributions:
    """Contributions of the columns of X, before any preparation, to the outputs of a model."""
    random = generator(random_state)
    labels, n, behind = column_labels(X), _length(X), _length(background)
    both = _joined(X, background)
    at_rows = _outputs(model, X)
    values = np.zeros((n, len(labels), at_rows.shape[1]))
    base = np.zeros(at_rows.shape[1])
    pairs = (n_orders + 1) // 2
    chosen = _spread_out(behind, pairs, random)
    for place in chosen:
        order = random.permutation(len(labels))
        at_background = _outputs(model, take_rows(both, np.array([n + place])))
        base += at_background[0] / pairs
        for each in (order, order[::-1]):
            path = np.empty((n, len(labels) + 1, at_rows.shape[1]))
            path[:, 0], path[:, -1] = at_background, at_rows
            if len(labels) > 1:
                steps = _outputs(model, _between(both, labels, n, n + place, each))
                path[:, 1:-1] = steps.reshape(n, len(labels) - 1, -1)
            values[:, each] += np.diff(path, axis=1) / (2 * pairs)
    outputs = list(np.asarray(model.classes_).tolist()) if is_classifier(model) else []
    response = "prediction"
    if outputs:
        response = "probability" if hasattr(model, "predict_proba") else "share predicted"
    shown = _cells(X, labels)
    if not outputs:
        return Contributions(values[:, :, 0], float(base[0]), labels, response, [], shown)
    return Contributions(values, base, labels, response, outputs, shown)


def _between(both: Any, labels: list[Any], n: int, background: int, order: Array) -> Any:
    """For each of n rows, the tables after 1, …, d − 1 columns have been taken from it."""
    d = len(labels)
    position = np.empty(d, dtype=np.intp)
    position[order] = np.arange(d)
    count = np.tile(np.arange(1, d), n)
    own = np.repeat(np.arange(n), d - 1)
    if isinstance(both, np.ndarray):
        return np.where(position < count[:, None], both[own], both[background])
    table = take_rows(both, np.append(own, background))
    last = len(own)
    for j, label in enumerate(labels):
        source = np.append(np.where(position[j] < count, np.arange(last), last), last)
        table = exchanged(table, label, source)
    return take_rows(table, np.arange(last))


def _outputs(model: Any, X: Any) -> Array:
    """Probabilities of classes, 1 for the predicted class, or predictions as one column."""
    if not is_classifier(model):
        found = np.asarray(model.predict(X), dtype=np.float64)
        return found.reshape(len(found), -1)[:, :1]
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    said = np.asarray(model.predict(X))
    return (said[:, None] == np.asarray(model.classes_)).astype(np.float64)


def _spread_out(n: int, count: int, random: np.random.Generator) -> Array:
    """Numbers of rows, each as often as any other."""
    rounds = [random.permutation(n) for _ in range(-(-count // n))]
    return np.concatenate(rounds)[:count]


def _joined(X: Any, background: Any) -> Any:
    if hasattr(X, "vstack"):
        return X.vstack(background)
    if hasattr(X, "iloc"):
        pandas = optional_import("pandas", purpose="explain")
        return pandas.concat([X, background], ignore_index=True)
    return np.vstack([np.asarray(X), np.asarray(background)])


def _cells(X: Any, labels: list[Any]) -> Array:
    """The values of a table, whose columns may have different types."""
    if isinstance(X, np.ndarray):
        return X
    cells = np.empty((_length(X), len(labels)), dtype=object)
    for j, label in enumerate(labels):
        cells[:, j] = list(column_of(X, label))
    return cells


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
