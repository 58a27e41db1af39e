"""Fit models on folds side by side: every fit on one thread, as many fits at once as threads.

Fits share no rows in writing and no random numbers, so nothing depends on how many run at once;
each is timed on its own thread. BLAS stays on one thread meanwhile, so cores are used once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.data.resampling import take_rows
from thetahat.evaluation.folds import Fold
from thetahat.evaluation.many_fits import Failure, side_by_side
from thetahat.foundation.errors import DataError

Array = Any
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
    tasks = [(name, number) for name in models for number in range(len(folds))]

    def work(task: tuple[str, int]) -> FoldFit:
        name, number = task
        return _fit_one(
            name, models[name], X, y, number, folds[number], scorers[name], sample_weight, keep
        )

    fits = []
    for (name, _), found in zip(tasks, side_by_side(work, tasks), strict=True):
        if isinstance(found, Failure):
            raise found.error
        fits.append(found)
        if progress is not None:
            progress(len(fits), len(tasks), name)
    return fits


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
        metric: _score(scorer, learner, held, truth, metric, name, number)
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
    )


def _certainty(learner: Any, X: Any) -> Array | None:
    for method in ("decision_function", "predict_proba"):
        if hasattr(learner, method) and hasattr(learner, "classes_"):
            return np.asarray(getattr(learner, method)(X))
    return None


def _score(
    scorer: Scorer, learner: Any, X: Any, y: Any, metric: str, name: str, number: int
) -> float:
    score = float(scorer(learner, X, y))
    if not np.isfinite(score):
        raise DataError(
            f"The {metric} of {name!r} on fold {number} is {score}: it is not defined there, or "
            "the model predicts what is not finite. Use other folds (fewer, or stratified), "
            "another metric, or scale the columns."
        )
    return score
