"""Fit models on folds in parallel: one thread per fit, as many fits at once as threads.

Fits neither write to shared rows nor share random numbers, so results do not depend on how many run
at once or in which order. Each fit is timed where it runs. BLAS uses one thread
meanwhile, so that no core is used twice.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.column_targets import one_column
from thetahat.data.resampling import take_rows
from thetahat.data.row_subset import some_rows, without_weights
from thetahat.data.source import Source
from thetahat.evaluation.folds import Fold, rows_in
from thetahat.evaluation.sampling.answers import Answers, answers_of
from thetahat.evaluation.sampling.row_values import RowValues, row_values
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.errors import DataError
from thetahat.foundation.many_fits import Failure, map_as_available
from thetahat.foundation.types import Array

Scorer = Callable[..., Any]
Progress = Callable[[int, int, str], None]
Fitter = Callable[[str, int], Any]
"""Fits the model of a name on the training rows of the fold of a number."""


class OutOfTime(Exception):
    """Raised by a `Fitter` that leaves out a model, because a time limit is over."""


@dataclass(frozen=True)
class FoldFit:
    """The result of fitting one model on one fold."""

    model: str
    fold: int
    rows: Array
    """Numbers of the held-out rows."""
    predictions: Array
    certainty: Array | None
    """Decision values or class probabilities; None where the model has neither."""
    scores: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    estimator: Any = None
    trained_rows: int = 0
    """The number of distinct training rows."""
    row_values: dict[str, RowValues] = field(default_factory=dict)
    """For every metric, what each held-out row contributes to its score, where that is known."""


def cross_fit(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    folds: list[Fold],
    scorers: Mapping[str, Mapping[str, Scorer]],
    *,
    sample_weight: Array | None = None,
    units: Array | None = None,
    names: Mapping[str, Mapping[str, str | None]] | None = None,
    keep: bool = False,
    progress: Progress | None = None,
    failed: dict[str, Exception] | None = None,
    fitter: Fitter | None = None,
    stopped: list[str] | None = None,
) -> list[FoldFit]:
    """Fit every model on every fold; results in the order of the models and the folds.

    `units` are the units of sampling of all rows; with them, the contributions of rows to the
    scores are kept. `names` are the names of the metrics in scikit-learn, by model and by metric.

    An error ends all fits. If `failed` is given, it receives the error of the first fold of each
    model that fails; the other models are still fitted, and the results lack the models that
    failed.

    With a `fitter`, the models are fitted by it, one model after the other, instead of as clones.
    If `stopped` is given, an interrupt (Ctrl-C) ends the fits, and the list receives the names of
    the models that lack folds; the results hold the others. It also receives the models that the
    fitter leaves out by raising `OutOfTime`.
    """
    work = _FoldWork(models, X, y, folds, scorers, sample_weight, keep, units, names or {}, fitter)
    seconds: dict[str, float] = {}
    fits: dict[tuple[str, int], FoldFit] = {}
    failures: dict[int, Exception] = {}
    broken: dict[str, tuple[int, Exception]] = {}
    tasks = _longest_first(list(models), len(folds), seconds)
    if fitter is not None:  # whole models first, which an interrupt keeps
        tasks = iter([(name, number) for name in models for number in range(len(folds))])
    late: set[str] = set()
    worth_doing = (task for task in tasks if task[0] not in broken and task[0] not in late)
    try:
        for (name, number), fit in map_as_available(
            work, takewhile(lambda _: not failures, worth_doing)
        ):
            if isinstance(fit, Failure):
                if isinstance(fit.error, OutOfTime) and stopped is not None:
                    late.add(name)
                elif failed is None:
                    failures[number] = fit.error
                elif name not in broken or number < broken[name][0]:
                    broken[name] = number, fit.error
                continue
            fits[name, number] = fit
            seconds[name] = fit.fit_seconds + fit.predict_seconds
            if progress is not None:
                progress(len(fits), len(models) * len(folds), name)
    except KeyboardInterrupt:
        if stopped is None:
            raise
        late |= {name for name in models for k in range(len(folds)) if (name, k) not in fits}
    if stopped is not None:
        stopped += [name for name in models if name in late]
    if failures:
        raise failures[min(failures)]  # the first fold, so that the error is always the same
    if failed is not None:
        failed.update((name, broken[name][1]) for name in models if name in broken)
    whole = [name for name in models if name not in broken and name not in (stopped or ())]
    return [fits[name, number] for name in whole for number in range(len(folds))]


def _longest_first(
    names: list[str], n_folds: int, seconds: Mapping[str, float]
) -> Iterator[tuple[str, int]]:
    """The first fold of every model, then the slowest models first, to finish with short fits.

    `seconds` is filled while the fits run; a model without a finished fit counts as slowest.
    """
    yield from ((name, 0) for name in names)
    following = dict.fromkeys(names, 1)
    while left := [name for name in names if following[name] < n_folds]:
        name = max(left, key=lambda name: seconds.get(name, np.inf))
        yield name, following[name]
        following[name] += 1


@dataclass(frozen=True)
class _FoldWork:
    """Fits one model on one fold, given the model's name and the fold's number."""

    models: Mapping[str, Any]
    X: Any
    y: Any
    folds: list[Fold]
    scorers: Mapping[str, Mapping[str, Scorer]]
    sample_weight: Array | None
    keep: bool
    units: Array | None
    names: Mapping[str, Mapping[str, str | None]]
    fitter: Fitter | None = None

    def __call__(self, task: tuple[str, int]) -> FoldFit:
        name, number = task
        with _naming("fitting", name, number):
            learner, seconds = self._fitted(name, number)
        with _naming("scoring", name, number):
            return self._scored(learner, name, number, seconds)

    def _fitted(self, name: str, number: int) -> tuple[Any, float]:
        """A model fitted on the training rows of a fold, and the seconds of the fit."""
        (train, _), weight = self.folds[number], self.sample_weight
        learner = clone(self.models[name])
        weights = {} if weight is None else weight_arguments(learner, weight[train])
        seen = None if self.fitter else rows_for(learner, self.X, train, train)
        streamed = isinstance(self.X, Source)  # which contains the targets
        targets = () if self.y is None or streamed else (take_rows(self.y, train),)
        begun = time.perf_counter()
        if self.fitter:
            learner = self.fitter(name, number)
        else:
            learner.fit(seen, *targets, **weights)
        return learner, time.perf_counter() - begun

    def _scored(self, learner: Any, name: str, number: int, seconds: float) -> FoldFit:
        """Predictions and scores of a fitted model on the held-out rows of a fold."""
        train, test = self.folds[number]
        streamed = isinstance(self.X, Source)
        fitted = time.perf_counter()
        held = rows_for(learner, self.X, test, train)
        held = without_weights(held) if streamed else held
        truth = () if self.y is None else (take_rows(self.y, test),)
        answers, places = answers_of(learner, held), np.arange(len(test))
        predictions = _predictions(learner, held, answers, places)
        certainty = _certainty(learner, answers, places)
        predicted = time.perf_counter()
        scores, values = {}, {}
        for metric, scorer in self.scorers[name].items():
            known: dict[str, Array] = {}
            if scorer is accuracy_scorer:
                known = {"predictions": predictions}
            elif scorer is likelihood_scorer:
                known = {"logs": np.asarray(learner.log_density(held), dtype=np.float64)}
            replayed = hasattr(scorer, "_score_func") and self.y is not None
            model, rows = (answers, places) if replayed else (learner, held)
            own = () if streamed and not replayed and not known else truth
            value = scorer(model, rows, *own, **known)
            scores[metric] = returned_number(value, f"The metric {metric!r}")
            if scores[metric] == -np.inf and is_density_model(learner):
                logs = known.get("logs", np.asarray(learner.log_density(held)))
                raise DataError(
                    f"The density of {name!r} is 0 at {np.sum(logs == -np.inf)} of {len(logs)} "
                    f"held-out rows of fold {number}, so their log-likelihood is −inf. "
                    + _positive_everywhere(learner)
                )
            if not np.isfinite(scores[metric]):
                raise DataError(
                    f"The {metric} of {name!r} on fold {number} is {scores[metric]}: it is not "
                    "defined on this fold, or the predictions are not finite. Use other folds "
                    "(fewer, or stratified), another metric, or scale the columns."
                )
            if self.units is not None:
                if "logs" in known:
                    found: RowValues | None = RowValues(known["logs"])
                else:
                    found = self._values(metric, name, answers, test, scores[metric])
                values.update({} if found is None else {metric: found})
        return FoldFit(
            name,
            number,
            np.asarray(test),
            predictions,
            certainty,
            scores,
            seconds,
            predicted - fitted,
            learner if self.keep else None,
            trained_rows=int(np.count_nonzero(np.bincount(train))),
            row_values=values,
        )

    def _values(
        self,
        metric: str,
        name: str,
        answers: Answers,
        test: Array,
        score: float,
    ) -> RowValues | None:
        """The contributions of the held-out rows to a score."""
        assert self.units is not None
        scorer = self.scorers[name][metric]
        known = self.names.get(name, {}).get(metric)
        if self.y is None or known in ("accuracy", "roc_auc"):
            return None  # accuracy and areas follow from the predictions that are kept
        truth = np.asarray(take_rows(self.y, test))
        return row_values(known, scorer, answers, truth, score, self.units[test])


@contextmanager
def _naming(what: str, name: str, number: int) -> Iterator[None]:
    """Add the model and the fold to the notes of an error."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"(while {what} {name!r} on fold {number})")
        raise


def rows_for(learner: Any, X: Any, rows: Array, training: Array) -> Any:
    """Some rows of X; of a matrix between rows, only its columns for the training rows."""
    if isinstance(X, Source):
        return some_rows(X, rows)
    taken = take_rows(X, rows)
    if not get_tags(learner).input_tags.pairwise:
        return taken
    return columns_for(taken, training)


def columns_for(X: Any, training: Array) -> Any:
    """Of a matrix between rows, the columns for the training rows."""
    return X[:, training] if not hasattr(X, "iloc") else X.iloc[:, training]


def _predictions(learner: Any, X: Any, answers: Answers, places: Array) -> Array:
    if hasattr(learner, "predict"):
        return np.asarray(answers.predict(places))
    for method in ("log_density", "score_samples"):
        if hasattr(learner, method):
            return np.asarray(getattr(learner, method)(X))
    return np.empty((rows_in(X), 0))


def likelihood_scorer(learner: Any, X: Any, y: Any = None, logs: Array | None = None) -> float:
    """Mean log density of the rows, the ``score`` of density models."""
    return float(np.mean(learner.log_density(X) if logs is None else logs))


def _positive_everywhere(model: Any) -> str:
    """How a density model becomes positive at all rows, by the parameters that it has."""
    has = model.get_params(deep=False)
    ways = [
        way
        for name, way in (
            ("bounds", "bounds=[(low, high), ...] or a larger margin for rows outside the range"),
            ("smoothing", "smoothing=1 for empty bins"),
            ("bandwidth", 'a larger bandwidth or kernel="gaussian"'),
        )
        if name in has
    ]
    if not ways:
        return "Use a model whose density is positive everywhere, such as KernelDensity."
    return f"Let the density be positive at all rows: use {', and '.join(ways)}."


def is_density_model(model: Any) -> bool:
    """Whether a model is scored by the likelihood of held-out rows."""
    return hasattr(model, "log_density") and not (is_classifier(model) or is_regressor(model))


def _certainty(learner: Any, answers: Answers, places: Array) -> Array | None:
    for method in ("decision_function", "predict_proba"):
        if hasattr(learner, method) and hasattr(learner, "classes_"):
            found = getattr(answers, method)(places)
            # With several labels per row, scikit-learn returns one table per label.
            return None if isinstance(found, list) else np.asarray(found)
    return None


def accuracy_scorer(learner: Any, X: Any, y: Any, predictions: Array | None = None) -> float:
    """Accuracy: the share of rows whose labels are all predicted correctly.

    Equal to the ``score`` method of classifiers, without its validation of the labels, which takes
    longer than the prediction.
    """
    labels = np.asarray(learner.predict(X)) if predictions is None else predictions
    right = rows_right(labels, np.asarray(y))
    return float(learner.score(X, y)) if right is None else float(np.mean(right))


def rows_right(predicted: Array, truth: Array) -> Array | None:
    """Whether each row is predicted correctly in all its labels; None if the shapes differ."""
    if predicted.size != truth.size or len(predicted) != len(truth):
        return None
    same = predicted.reshape(truth.shape) == truth
    return same if same.ndim == 1 else same.all(axis=1)


def rows_wrong(model: Any, X: Any, y: Array, who: str) -> Array:
    """Whether a fitted classifier predicts each row wrongly."""
    called = np.asarray(one_column(model.predict(X)))
    if called.shape != y.shape:
        raise DataError(
            f"{who}: {type(model).__name__}.predict gave shape {called.shape} for {y.size} rows. "
            "Give a classifier that predicts one label per row."
        )
    return called != y


def progress_callback(progress: bool | Progress) -> Progress | None:
    """The function to call after each fit; None if progress is not reported."""
    if callable(progress):
        return progress
    return _print_progress if progress else None


def _print_progress(done: int, total: int, name: str) -> None:
    end = "\n" if done == total else "\r"
    print(f"{done} of {total} fits ({name})", end=end, file=sys.stderr, flush=True)


def in_row_order(fits: list[FoldFit], parts: list[Any]) -> Array | None:
    """Values of the held-out rows in the order of X; None when their shapes differ."""
    if len({part.shape[1:] for part in parts}) > 1 or 0 in parts[0].shape[1:]:
        return None
    values = np.concatenate(parts)
    ordered = np.empty_like(values)
    ordered[np.concatenate([fit.rows for fit in fits])] = values
    return ordered


def weight_arguments(model: Any, weight: Array) -> dict[str, Array]:
    """The arguments of ``fit`` that give row weights to a model, or to the steps of a pipeline."""
    if not isinstance(model, Pipeline) or get_config()["enable_metadata_routing"]:
        return {"sample_weight": weight}
    steps = [name for name, step in model.steps if has_fit_parameter(step, "sample_weight")]
    return {f"{name}__sample_weight": weight for name in steps}
