"""Learning from a stream: judge each batch before it is learned; ask for the labels that help."""

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
    """Losses on a stream, each row judged before it was learned.

    Formula: (1/n) Σ_t loss(y_t, f_t(x_t)), where f_t has learned the rows before t alone. Cost:
    O(batches) memory.

    Attributes
    ----------
    losses : array of shape (n_batches,)
        The mean loss on each batch.
    rows : array of shape (n_batches,)
        Rows in each batch.
    mean_loss : float
        Over all rows judged.

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
        """The mean over all rows judged."""
        return float(self.losses @ self.rows / self.rows.sum())

    @property
    def running(self) -> Array:
        """The mean loss over all rows up to each batch."""
        return np.cumsum(self.losses * self.rows) / np.cumsum(self.rows)


def progressive_validation(
    model: Any,
    stream: Iterable[tuple[Any, Any]],
    *,
    classes: Any = None,
    loss: Callable[[Array, Array], float] | None = None,
) -> ProgressiveValidation:
    """Judge a learner on each batch of a stream, then let it learn the batch.

    Formula: every row is fresh when it is judged, so the mean loss is an honest estimate, and no
    row is set aside. The first batch is only learned. Cost: a prediction and an update per batch.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        It learns the stream.
    stream : iterable of (X, y)
        Batches; a y of shape (n, 1) counts as (n,).
    classes : array-like, optional
        All labels, for classifiers.
    loss : callable, optional
        ``loss(y, predicted)``; None: the share of errors, or the mean square.

    Returns
    -------
    ProgressiveValidation

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
            f"{type(model).__name__} has no partial_fit, so it cannot learn a stream. Use "
            "SGDClassifier, SGDRegressor or a learner of th.online."
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
            "judged. Give at least two batches."
        )
    return ProgressiveValidation(np.array(losses), np.array(rows, dtype=float))


@dataclass(frozen=True)
class ActiveLearning:
    """Which rows were asked about, and how the model did after each question.

    Formula: ask about the row whose label is least certain. Cost: O(questions) memory.

    Attributes
    ----------
    model : estimator
        Fitted to all rows asked about.
    asked : array of int
        Rows of the pool, in the order they were asked about.
    scores : array
        ``score`` on the test rows after each fit, where test rows were given.

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
    """Ask for the labels that help most: fit, query the least certain row, fit again.

    Formula: next row = argmin |decision value|, or argmin of the largest class probability's lead.
    Cost: one fit and one prediction over the pool per question.

    Parameters
    ----------
    model : classifier
        With ``decision_function`` or ``predict_proba`` for the uncertainty query.
    pool : array-like or sparse array of shape (n, d)
        Rows without labels.
    oracle : callable
        ``oracle(row)`` tells the label of a row of the pool, by its number.
    questions : int
        How many labels to ask for in all.
    start : int, default=10
        How many of them are asked for at random first (more until two classes are seen).
    query : {"uncertainty", "random"} or callable, default="uncertainty"
        Which row next; ``query(model, rows)`` gives a number per row, the largest is asked about.
    test : (X, y), optional
        Rows to score on after every question.
    random_state : int, Generator or None
        For the first questions and for "random".

    Returns
    -------
    ActiveLearning

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
        pool = pool.tocsr()  # the sparse format whose rows can be taken
    n = _n_rows(pool)
    check_value(questions, whole(2), "questions", "active_learning")
    check_value(start, whole(0), "start", "active_learning")
    if questions > n:
        raise ParameterError(
            f"active_learning: questions={questions!r} must be at most the pool's {n} rows."
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
            f"active_learning: all {questions} rows asked about are of one class, {labels[0]!r}. "
            "Ask more questions."
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
    """How unsure a classifier is of each row: minus the lead of its first label over the second.

    Formula: −|z| for two classes, else −(p₍₁₎ − p₍₂₎). Cost: one prediction.

    Parameters
    ----------
    model : fitted classifier
        With ``decision_function`` or ``predict_proba``.
    X : array-like of shape (n, d)
        Rows.

    Returns
    -------
    array of shape (n,)

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
            f"{type(model).__name__} has neither probabilities nor scores, so it cannot say how "
            "sure it is. Use query='random'."
        )
    if scores.ndim == 1:
        return -np.abs(scores)
    leading = np.sort(scores, axis=1)
    return leading[:, -2] - leading[:, -1]


def _n_rows(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _alike(y: Any, predicted: Any, batch: int) -> tuple[Array, Array]:
    """Targets and predictions of one shape, a column being as good as a row of numbers."""
    truth, answers = np.asarray(y), np.asarray(predicted)
    if truth.shape != answers.shape:
        truth, answers = (a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a
                          for a in (truth, answers))  # fmt: skip
    if truth.shape != answers.shape:
        raise DataError(
            f"progressive_validation: batch {batch} has targets of shape {truth.shape}, and the "
            f"model predicts shape {answers.shape}. Give one target per prediction."
        )
    return truth, answers


def _error_rate(y: Array, predicted: Array) -> float:
    return float(np.mean(y != predicted))


def _mean_square(y: Array, predicted: Array) -> float:
    return float(np.mean((y - predicted) ** 2))
