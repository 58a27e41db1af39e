"""Learning from a stream: progressive validation and active learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from thetahat.data.resampling import take_rows
from thetahat.estimator.parameters import check_value, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class ProgressiveValidation:
    """Result of progressive validation: losses on a stream, measured before each batch is learned.

    Formula: (1/n) Σ_t loss(y_t, f_t(x_t)), where f_t was fitted to the rows before t only. Cost:
    O(batches) memory.

    Attributes
    ----------
    losses : array of shape (n_batches,)
        Mean loss on each batch.
    rows : array of shape (n_batches,)
        Number of rows in each batch.
    mean_loss : float
        Mean loss over all evaluated rows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(float)
    >>> stream = [(X[i : i + 20], X[i : i + 20, 0] > 0) for i in range(0, 200, 20)]
    >>> found = th.online.progressive_validation(
    ...     th.online.MonotoneDisjunction(), stream, classes=[False, True])
    >>> bool(found.losses[-1] <= found.losses[0])
    True
    """

    losses: Array
    rows: Array

    @property
    def mean_loss(self) -> float:
        """Mean loss over all evaluated rows."""
        return float(self.losses @ self.rows / self.rows.sum())

    @property
    def running(self) -> Array:
        """Mean loss over all rows up to each batch."""
        return np.cumsum(self.losses * self.rows) / np.cumsum(self.rows)


def progressive_validation(
    model: Any,
    stream: Iterable[tuple[Any, Any]],
    *,
    classes: Any = None,
    loss: Callable[[Array, Array], float] | None = None,
) -> ProgressiveValidation:
    """Evaluate a model on each batch of a stream before it learns the batch.

    Every row is new when it is predicted, so the mean loss is an unbiased estimate, and no rows
    have to be held out. The first batch is only learned, not evaluated.

    Formula: (1/n) Σ_t loss(y_t, f_t(x_t)). Cost: one prediction and one update per batch.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        The model, which is updated with every batch.
    stream : iterable of (X, y)
        Batches of rows and targets. A y of shape (n, 1) is treated as (n,).
    classes : array-like, optional
        All class labels. Required for classifiers.
    loss : callable, optional
        Function ``loss(y, predicted)`` that returns a mean loss. By default the error rate for
        classifiers and the mean squared error for regressors.

    Returns
    -------
    ProgressiveValidation
        Losses and numbers of rows of the evaluated batches.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.eye(4)
    >>> stream = [(X, [1, 0, 0, 0]), (X, [1, 0, 0, 0])]
    >>> learner = th.online.MonotoneDisjunction()
    >>> th.online.progressive_validation(learner, stream, classes=[0, 1]).mean_loss
    0.0
    """
    if not hasattr(model, "partial_fit"):
        raise ParameterError(
            f"progressive_validation needs partial_fit, which {type(model).__name__} does not "
            "have. Use SGDClassifier, SGDRegressor or a learner of th.online."
        )
    judge = loss or (_error_rate if is_classifier(model) else _mean_square)
    losses, rows, options = [], [], {} if classes is None else {"classes": classes}
    for number, (X, y) in enumerate(stream):
        if number:
            truth, predicted = _alike(y, model.predict(X), number)
            losses.append(float(judge(truth, predicted)))
            rows.append(len(truth))
        model.partial_fit(X, y, **({} if number else options))
    if not losses:
        raise DataError(
            "progressive_validation: the stream ended before its second batch, so nothing was "
            "evaluated. Pass at least two batches."
        )
    return ProgressiveValidation(np.array(losses), np.array(rows, dtype=float))


@dataclass(frozen=True)
class ActiveLearning:
    """Result of active learning: the queried rows, and the score after each query.

    Formula: query the row whose label is least certain. Cost: O(questions) memory.

    Attributes
    ----------
    model : estimator
        The model, fitted to all queried rows.
    asked : array of int
        Numbers of the queried rows of the pool, in order.
    scores : array
        Score on the test rows after each fit, if test rows were given.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> pool = np.random.default_rng(0).random((200, 2))
    >>> labels = (pool[:, 0] > 0.5).astype(int)
    >>> found = th.online.active_learning(
    ...     th.AxisParallelRectangle(), pool, lambda row: labels[row], questions=20, random_state=0)
    >>> found.asked.size
    20
    """

    model: Any
    asked: Array
    scores: Array


def active_learning(
    model: Any,
    pool: Any,
    oracle: Callable[[int], Any],
    *,
    questions: int,
    start: int = 10,
    query: str | Callable[[Any, Any], Array] = "uncertainty",
    test: tuple[Any, Any] | None = None,
    random_state: Any = None,
) -> ActiveLearning:
    """Active learning: query the label of the least certain row, fit, and repeat.

    Formula: the next row has the smallest |decision value|, or the smallest difference between the
    two largest class probabilities. Cost: one fit and one prediction of the pool per query.

    Parameters
    ----------
    model : classifier
        The classifier to fit. The uncertainty query needs ``decision_function`` or
        ``predict_proba``.
    pool : array-like or sparse array of shape (n, d)
        Rows without labels, from which queries are chosen.
    oracle : callable
        Function ``oracle(row)`` that returns the label of a row of the pool, given its number.
    questions : int
        Total number of labels to query. At most the number of rows of the pool.
    start : int, default=10
        Number of rows that are first queried at random; more if they all have the same class.
    query : {"uncertainty", "random"} or callable, default="uncertainty"
        How the next row is chosen. A function ``query(model, rows)`` returns one number per row;
        the row with the largest is queried.
    test : (X, y) or None, default=None
        Test rows on which the model is scored after every query.
    random_state : int, Generator or None, default=None
        Seed for the first queries and for ``query="random"``. Pass an int for the same result on
        every call.

    Returns
    -------
    ActiveLearning
        The fitted model, the queried rows and the scores.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> pool = np.random.default_rng(0).random((100, 1))
    >>> labels = (pool[:, 0] > 0.5).astype(int)
    >>> box = th.AxisParallelRectangle()
    >>> found = th.online.active_learning(
    ...     box, pool, labels.__getitem__, questions=15, random_state=0)
    >>> len(set(found.asked.tolist()))
    15
    """
    from sklearn.base import clone

    if hasattr(pool, "tocsr"):
        pool = pool.tocsr()  # the sparse format that supports indexing of rows
    n = _n_rows(pool)
    check_value(questions, whole(2), "questions", "active_learning")
    check_value(start, whole(0), "start", "active_learning")
    if questions > n:
        raise ParameterError(
            f"active_learning: questions={questions!r} must not exceed the number of rows of the "
            f"pool, {n}."
        )
    random = generator(random_state)
    want = _query(query, random)
    order = random.permutation(n)
    asked = order[: min(start, questions)].tolist()
    labels = [oracle(row) for row in asked]
    while len(set(labels)) < 2 and len(asked) < questions:
        asked.append(int(order[len(asked)]))
        labels.append(oracle(asked[-1]))
    if len(set(labels)) < 2:
        raise DataError(
            f"active_learning: all queried rows (questions={questions}) have one class, "
            f"{labels[0]!r}. Increase questions."
        )
    scores = []
    while True:
        fitted = clone(model).fit(take_rows(pool, np.array(asked)), np.asarray(labels))
        if test is not None:
            scores.append(float(fitted.score(*test)))
        if len(asked) >= questions:
            return ActiveLearning(fitted, np.array(asked), np.array(scores))
        rest = np.setdiff1d(np.arange(n), asked)
        chosen = int(rest[int(np.argmax(want(fitted, take_rows(pool, rest))))])
        asked.append(chosen)
        labels.append(oracle(chosen))


def _query(query: Any, random: np.random.Generator) -> Callable[[Any, Any], Array]:
    if callable(query):
        return query
    if query == "random":
        return lambda model, rows: random.random(_n_rows(rows))
    if query == "uncertainty":
        return uncertainty
    raise ParameterError(
        f"active_learning: query={query!r} must be 'uncertainty', 'random' or a function."
    )


def uncertainty(model: Any, X: Any) -> Array:
    """Uncertainty of a classifier about each row: minus the margin between its two best classes.

    Formula: −|z| for two classes, otherwise −(p₍₁₎ − p₍₂₎). Larger values mean less certain
    predictions. Cost: one prediction.

    Parameters
    ----------
    model : fitted classifier
        A classifier with ``decision_function`` or ``predict_proba``.
    X : array-like of shape (n, d)
        Rows to predict, with the same columns as in `fit`.

    Returns
    -------
    array of shape (n,)
        Uncertainty of each row, at most 0.

    Examples
    --------
    >>> import thetahat as th
    >>> box = th.AxisParallelRectangle().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> th.online.uncertainty(box, [[1.0], [1.5]]).argmax()
    np.int64(0)
    """
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(X))
            break
    else:
        raise ParameterError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, which "
            "uncertainty needs. Use query='random'."
        )
    if scores.ndim == 1:
        return -np.abs(scores)
    leading = np.sort(scores, axis=1)
    return leading[:, -2] - leading[:, -1]


def _n_rows(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _alike(y: Any, predicted: Any, batch: int) -> tuple[Array, Array]:
    """Targets and predictions in the same shape; (n, 1) is treated as (n,)."""
    truth, answers = np.asarray(y), np.asarray(predicted)
    if truth.shape != answers.shape:
        truth, answers = (a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a
                          for a in (truth, answers))  # fmt: skip
    if truth.shape != answers.shape:
        raise DataError(
            f"progressive_validation: batch {batch} has targets of shape {truth.shape}, but the "
            f"model predicts shape {answers.shape}. Pass one target per prediction."
        )
    return truth, answers


def _error_rate(y: Array, predicted: Array) -> float:
    return float(np.mean(y != predicted))


def _mean_square(y: Array, predicted: Array) -> float:
    return float(np.mean((y - predicted) ** 2))
