"""Fit models on folds side by side: every fit on one thread, as many fits at once as threads.

Fits share no rows in writing and no random numbers, so nothing depends on how many run at once, in
which order, or in which process; each is timed where it runs. BLAS stays on one thread meanwhile,
so cores are used once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.data.resampling import take_rows
from thetahat.evaluation.folds import Fold
from thetahat.evaluation.parallel.scheduling import run_as_available
from thetahat.foundation.errors import DataError
from thetahat.foundation.many_fits import Failure
from thetahat.foundation.types import Array

Scorer = Callable[..., Any]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FoldFit:
    """What one model did with one fold."""

    model: str
    fold: int
    rows: Array
    """The rows held back."""
    predictions: Array
    certainty: Array | None
    """Scores that rank: decision values or class probabilities, where the model has them."""
    scores: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    estimator: Any = None
    by_worker: bool = False
    """Whether it ran in a worker process."""
    trained_rows: int = 0
    """How many different rows it learned from."""


def cross_fit(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    folds: list[Fold],
    scorers: Mapping[str, Mapping[str, Scorer]],
    *,
    sample_weight: Array | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> list[FoldFit]:
    """Every model fitted on every fold, in the order of the models and the folds."""
    work = _FoldWork(models, X, y, folds, scorers, sample_weight, keep)
    seconds: dict[str, float] = {}
    fits: dict[tuple[str, int], FoldFit] = {}
    failures: dict[int, Exception] = {}
    tasks = _longest_first(list(models), len(folds), seconds)
    for done in run_as_available(work, takewhile(lambda _: not failures, tasks)):
        if isinstance(done.result, Failure):
            failures[done.item[1]] = done.result.error
            continue
        fits[done.item] = replace(done.result, by_worker=done.by_worker)
        name = done.item[0]
        seconds[name] = done.result.fit_seconds + done.result.predict_seconds
        if progress is not None:
            progress(len(fits), len(models) * len(folds), name)
    if failures:
        raise failures[min(failures)]  # of those that ran at once, always the same
    return [fits[name, number] for name in models for number in range(len(folds))]


def where_they_ran(fits: Sequence[FoldFit]) -> str:
    """One line: how many fits ran in worker processes, and why."""
    sent = sum(fit.by_worker for fit in fits)
    if not sent:
        return f"{len(fits)} fits on threads: they waited too little to pay for starting workers."
    return f"{sent} of {len(fits)} fits in worker processes, where none waits for another's lock."


def _longest_first(
    names: list[str], n_folds: int, seconds: Mapping[str, float]
) -> Iterator[tuple[str, int]]:
    """Every model's first fold; then what takes longest, so that the last fits to end are short.

    `seconds` is filled meanwhile; a model whose first fit is not done yet seems to take long.
    """
    yield from ((name, 0) for name in names)
    following = dict.fromkeys(names, 1)
    while left := [name for name in names if following[name] < n_folds]:
        name = max(left, key=lambda name: seconds.get(name, np.inf))
        yield name, following[name]
        following[name] += 1


@dataclass(frozen=True)
class _FoldWork:
    """One model on one fold, told by the model's name and the fold's number."""

    models: Mapping[str, Any]
    X: Any
    y: Any
    folds: list[Fold]
    scorers: Mapping[str, Mapping[str, Scorer]]
    sample_weight: Array | None
    keep: bool

    def __call__(self, task: tuple[str, int]) -> FoldFit:
        name, number = task
        return _fit_one(
            name,
            self.models[name],
            self.X,
            self.y,
            number,
            self.folds[number],
            self.scorers[name],
            self.sample_weight,
            self.keep,
        )


def _fit_one(
    name: str,
    model: Any,
    X: Any,
    y: Any,
    number: int,
    fold: Fold,
    scorers: Mapping[str, Scorer],
    sample_weight: Array | None,
    keep: bool,
) -> FoldFit:
    train, test = fold
    learner = clone(model)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
    seen, targets = take_rows(X, train), take_rows(y, train)
    begun = time.perf_counter()
    try:
        learner.fit(seen, targets, **weights)
    except Exception as failure:
        failure.add_note(f"(while fitting {name!r} on fold {number})")
        raise
    fitted = time.perf_counter()
    held, truth = take_rows(X, test), take_rows(y, test)
    predictions = np.asarray(learner.predict(held))
    certainty = _certainty(learner, held)
    predicted = time.perf_counter()
    scores = {
        metric: _score(scorer, learner, held, truth, predictions, metric, name, number)
        for metric, scorer in scorers.items()
    }
    return FoldFit(
        name,
        number,
        np.asarray(test),
        predictions,
        certainty,
        scores,
        fitted - begun,
        predicted - fitted,
        learner if keep else None,
        trained_rows=int(np.count_nonzero(np.bincount(train))),
    )


def _certainty(learner: Any, X: Any) -> Array | None:
    for method in ("decision_function", "predict_proba"):
        if hasattr(learner, method) and hasattr(learner, "classes_"):
            found = getattr(learner, method)(X)
            # Several labels per row have a table each.
            return None if isinstance(found, list) else np.asarray(found)
    return None


def accuracy_scorer(learner: Any, X: Any, y: Any, predictions: Array | None = None) -> float:
    """What a classifier's own ``score`` says: the share of rows whose label is told right.

    A row of several labels is right when all of them are. Labels were checked when the model
    learned; to check them again takes longer than to predict.
    """
    told = np.asarray(learner.predict(X)) if predictions is None else predictions
    right = rows_right(told, np.asarray(y))
    return float(learner.score(X, y)) if right is None else float(np.mean(right))


def rows_right(told: Array, truth: Array) -> Array | None:
    """Which rows are told right, all labels of them; None where predictions are no labels."""
    if told.size != truth.size or len(told) != len(truth):
        return None
    same = told.reshape(truth.shape) == truth
    return same if same.ndim == 1 else same.all(axis=1)


def _score(
    scorer: Scorer,
    learner: Any,
    X: Any,
    y: Any,
    predictions: Array,
    metric: str,
    name: str,
    number: int,
) -> float:
    known = {"predictions": predictions} if scorer is accuracy_scorer else {}
    score = float(scorer(learner, X, y, **known))
    if not np.isfinite(score):
        raise DataError(
            f"The {metric} of {name!r} on fold {number} is {score}: it is not defined there, or "
            "the model predicts what is not finite. Use other folds (fewer, or stratified), "
            "another metric, or scale the columns."
        )
    return score
