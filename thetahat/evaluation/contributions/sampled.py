"""Shapley values of any model, by sampling orders of the columns.

In a draw, the columns of a row of the background are replaced one by one, in a random order, by
those of the row that is explained. The change of the prediction at each step is the contribution of
that column, and the steps add up to f(x) − f(background row). Every row has its own draws. Every
order is used forwards and backwards, which removes the first-order part of the sampling error.

The base is the mean prediction of the background. The rows that were drawn for one x have another
mean. The difference is divided among the columns by a regression of their steps on f(background
row), as a control variate: the contributions add up to f(x) − base, and a column that the model
does not use keeps a contribution of 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from thetahat.data.columns.replaced_column import column_labels, column_of, exchanged
from thetahat.data.resampling import take_rows
from thetahat.evaluation.contributions.result import Contributions
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

MOST_BACKGROUND = 10_000
"""Largest number of background rows that are used; of more, some are drawn."""


def sampled(model: Any, X: Any, background: Any, n_orders: int, random_state: Any) -> Contributions:
    """Contributions of the columns of X, before any preparation, to the outputs of a model."""
    random = generator(random_state)
    _require_one_output(model)
    X, background = _like_each_other(X, background)
    labels, n, behind = column_labels(X), _length(X), _length(background)
    if behind > MOST_BACKGROUND:
        drawn = np.sort(random.choice(behind, MOST_BACKGROUND, replace=False))
        background, behind = take_rows(background, drawn), MOST_BACKGROUND
    both = _joined(X, background)
    at_rows, at_background = _outputs(model, X), _outputs(model, background)
    base = at_background.mean(axis=0)
    pairs = (n_orders + 1) // 2
    places = _spread_out(behind, n * pairs, random).reshape(n, pairs)
    steps = np.empty((pairs, n, len(labels), at_rows.shape[1]))
    for number in range(pairs):
        order = random.permuted(np.tile(np.arange(len(labels)), (n, 1)), axis=1)
        start = at_background[places[:, number]]
        found = [
            _steps(model, both, labels, each, n + places[:, number], start, at_rows)
            for each in (order, order[:, ::-1])
        ]
        steps[number] = (found[0] + found[1]) / 2
    values = _completed(steps, at_background[places.T] - base)
    outputs, response = list(range(len(base))) if len(base) > 1 else [], "prediction"
    if is_classifier(model):
        outputs = list(np.asarray(model.classes_).tolist()) if len(base) > 1 else []
        response = "probability" if hasattr(model, "predict_proba") else "share predicted"
    shown = _cells(X, labels)
    if not outputs:
        return Contributions(values[:, :, 0], float(base[0]), labels, response, [], shown)
    return Contributions(values, base, labels, response, outputs, shown)


def _steps(
    model: Any, both: Any, labels: list[Any], order: Array, behind: Array, start: Array, end: Array
) -> Array:
    """The change of the outputs when each column is replaced, (n, d, outputs)."""
    n, d = order.shape
    path = np.empty((n, d + 1, start.shape[1]))
    path[:, 0], path[:, -1] = start, end
    if d > 1:
        path[:, 1:-1] = _outputs(model, _between(both, labels, behind, order)).reshape(n, d - 1, -1)
    changes = np.empty((n, d, start.shape[1]))
    np.put_along_axis(changes, order[:, :, None], np.diff(path, axis=1), axis=1)
    return changes


def _completed(steps: Array, off: Array) -> Array:
    """The mean of the steps over the draws, (n, d, outputs), made to add up to f(x) − base.

    `off` is f(background row) − base of each draw, (draws, n, outputs).
    """
    values, left = steps.mean(axis=0), off.mean(axis=0)
    around = off - left
    shares = -np.einsum("kndo,kno->do", steps, around)  # they add up to the sum of squares
    total = np.einsum("kno,kno->o", around, around)
    unknown = total <= 1e-12 * np.einsum("kno,kno->o", off, off)  # such as a single draw
    sizes = np.abs(values).mean(axis=0)
    sizes[:, ~sizes.any(axis=0)] = 1.0
    shares = np.where(unknown, sizes, shares)
    return values + left[:, None, :] * (shares / shares.sum(axis=0))


def _between(both: Any, labels: list[Any], behind: Array, order: Array) -> Any:
    """For each of n rows, the tables after 1, …, d − 1 columns have been taken from it."""
    n, d = order.shape
    position = np.argsort(order, axis=1)
    count = np.tile(np.arange(1, d), n)
    own = np.repeat(np.arange(n), d - 1)
    if isinstance(both, np.ndarray):
        return np.where(position[own] < count[:, None], both[own], both[behind[own]])
    table = take_rows(both, np.concatenate([own, behind]))
    last = len(own)
    for j, label in enumerate(labels):
        source = np.where(position[own, j] < count, np.arange(last), last + own)
        table = exchanged(table, label, np.concatenate([source, last + np.arange(n)]))
    return take_rows(table, np.arange(last))


def _require_one_output(model: Any) -> None:
    if not (is_classifier(model) or is_regressor(model)):
        raise CapabilityError(
            f"explain: {type(model).__name__} is neither a regressor nor a classifier, so that a "
            "mean of its predictions has no meaning. Give a regressor or a classifier."
        )
    if is_classifier(model) and isinstance(model.classes_, list | tuple):
        raise CapabilityError(
            f"explain: {type(model).__name__} predicts {len(model.classes_)} targets of classes, "
            'and method="sampled" explains one. Fit one classifier for each target.'
        )


def _like_each_other(X: Any, background: Any) -> tuple[Any, Any]:
    """Both tables, after checking that they have rows, and the same type and columns."""
    tables: list[Any] = []
    for name, table in (("X", X), ("background", background)):
        if issparse(table):
            raise DataError(
                f'explain: {name} is sparse, which method="sampled" cannot mix with other rows. '
                f"Give {name}.toarray()."
            )
        named = hasattr(table, "columns") or hasattr(table, "column_names")
        rows: Any = table if named else np.asarray(table)
        if len(rows.shape) != 2 or 0 in rows.shape:
            raise DataError(
                f"explain: {name} has shape {tuple(rows.shape)}, but must be a table with at least "
                "one row and one column."
            )
        tables.append(rows)
    rows, behind = tables
    if type(rows) is not type(behind):
        raise DataError(
            f"explain: X is a {type(rows).__name__}, but background is a {type(behind).__name__}. "
            "Give both as the same type."
        )
    ours, theirs = column_labels(rows), column_labels(behind)
    if ours != theirs:
        raise DataError(
            f"explain: X has the columns {_listed(ours)}, but background has {_listed(theirs)}. "
            "Give the same columns in the same order."
        )
    if getattr(rows, "schema", None) != getattr(behind, "schema", None):
        raise DataError(
            f"explain: X has the types {rows.schema}, but background has {behind.schema}. Give the "
            "same types."
        )
    return rows, behind


def _listed(labels: list[Any]) -> str:
    shown = ", ".join(map(str, labels[:8]))
    return shown if len(labels) <= 8 else f"{shown}, … ({len(labels)} in all)"


def _outputs(model: Any, X: Any) -> Array:
    """Probabilities of classes, 1 for the predicted class, or the prediction of each target."""
    if not is_classifier(model):
        found = np.asarray(model.predict(X), dtype=np.float64)
        return found.reshape(len(found), -1)
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
    if hasattr(X, "column_names"):
        return optional_import("pyarrow", purpose="explain").concat_tables([X, background])
    return np.vstack([X, background])


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
