"""Evaluate a model by cross-validation: every score with an interval."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring, get_scorer

from thetahat.data.column_targets import one_column
from thetahat.data.validation import as_weight
from thetahat.evaluation.cross_fitting import (
    FoldFit,
    Progress,
    Scorer,
    accuracy_scorer,
    cross_fit,
    rows_right,
    where_they_ran,
)
from thetahat.evaluation.folds import Fold, are_a_partition, folds_of, rows_in
from thetahat.evaluation.metrics import known_as, own_score
from thetahat.evaluation.score_intervals import score_interval
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Evaluation:
    """What a model scored on rows it had not seen, and how sure that is; prints as a table.

    Formula: the mean over folds of score(model fitted without the fold, fold). Cost: O(n) memory
    for the predictions.

    Attributes
    ----------
    name : str
        The model.
    intervals : dict of str to Interval
        For every metric, the mean score and its confidence interval.
    scores : dict of str to array of shape (n_folds,)
        For every metric, the score of each fold.
    predictions : array of shape (n,) or None
        Of every row, by the model that had not seen it; None when some rows are held back several
        times or never.
    certainties : array or None
        Decision values or class probabilities of the same kind.
    fits : tuple of FoldFit
        What happened on each fold: rows, predictions, scores, seconds.
    fit_seconds, predict_seconds : array of shape (n_folds,)
        Time taken.
    known_as : dict of str to str or None
        For every metric, the name by which scikit-learn knows it; None for somebody's own.
    where : str
        Whether fits ran on threads or in worker processes, and why.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 3, noise=1.0, random_state=0)
    >>> result = th.evaluate(th.LinearRegression(), data.X, data.y)
    >>> result.scores["r2"].shape, result.predictions.shape
    ((5,), (100,))
    """

    name: str
    intervals: dict[str, Interval]
    scores: dict[str, Array]
    predictions: Array | None
    certainties: Array | None
    fits: tuple[FoldFit, ...]
    known_as: dict[str, str | None] = field(default_factory=dict)

    @property
    def fit_seconds(self) -> Array:
        """Seconds of every fit."""
        return np.array([fit.fit_seconds for fit in self.fits])

    @property
    def predict_seconds(self) -> Array:
        """Seconds of every prediction."""
        return np.array([fit.predict_seconds for fit in self.fits])

    @property
    def where(self) -> str:
        """Where the fits ran, and why."""
        return where_they_ran(self.fits)

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.fits)} folds, {self.fit_seconds.mean():.3g} s per fit"]
        width = max(map(len, self.intervals))
        lines += [f"  {metric:<{width}}  {self.intervals[metric]}" for metric in self.intervals]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, metric: str | None = None, axes: Any = None) -> Any:
        """The scores of the folds, their mean and its interval. Cost: O(folds).

        Parameters
        ----------
        metric : str, optional
            Which; by default the first.
        axes : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="Evaluation.plot")
        metric = metric or next(iter(self.scores))
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        interval = self.intervals[metric]
        folds = np.arange(1, len(self.fits) + 1)
        if np.isfinite([interval.low, interval.high]).all():
            axes.axhspan(interval.low, interval.high, color="C0", alpha=0.15, lw=0)
        axes.axhline(interval.estimate, color="C0")
        axes.plot(folds, self.scores[metric], "o", color="black")
        axes.set(xlabel="fold", ylabel=metric, xticks=folds, title=f"{self.name}: {interval}")
        return axes


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    scoring: Any = None,
    interval: str = "auto",
    level: float = 0.95,
    groups: Any = None,
    sample_weight: Any = None,
    name: str | None = None,
    random_state: Any = 0,
    keep_models: bool = False,
    progress: bool | Progress = False,
) -> Evaluation:
    """Score a model on rows it has not seen, with a confidence interval for every score.

    Formula: s̄ = (1/k) Σ score(f_{−fold}, fold); the interval depends on the score: Wilson for
    accuracy, DeLong for the area under the ROC curve, otherwise s̄ ± t·s·√(1/k + n_test/n_train),
    corrected for overlapping training sets. Cost: k fits, side by side on the threads there are;
    once such fits have waited for each other for seconds, in worker processes, with the same
    results.

    The interval is for the expected score of models learned from so many rows. Wilson's counts the
    rows tested and not what learning from a sample adds: with nearest means of ten columns and a
    weak signal it covers 91% with 60 rows and 92 to 95% with 100 to 400. DeLong's adds it: 95 to
    97% with 60 to 400 rows of two even classes, 92% with 5 positives of 100 or 10 of 200, and up to
    99% of models that learning hardly changes. The corrected t, and the bootstrap of folds, which
    is stretched alike, cover 97 to 98%.

    Parameters
    ----------
    model : estimator
        Any of scikit-learn's kind; it is cloned, never fitted itself.
    X, y : array-like, sparse, table
        Rows and targets in memory; one column of targets is one target per row.
    cv : int, "bootstrap", splitter or iterable, default=5
        Folds; a number means shuffled ones, stratified for classifiers. "bootstrap" trains on rows
        drawn with replacement and scores those not drawn, about 37%, 25 times over.
    scoring : str, callable, or list or dict of them, optional
        Metrics of scikit-learn's kind, greater is better; None: the model's own ``score``.
    interval : str, default="auto"
        "corrected_t", "t", "bootstrap" (of folds), "wilson", "clopper_pearson" or "delong". "auto"
        goes by what the metric is, not by what it is called.
    level : float, default=0.95
        The confidence.
    groups : array-like, optional
        For splitters that keep groups together.
    sample_weight : array-like, optional
        Weights for the fits.
    name : str, optional
        What to call the model; its class by default.
    random_state : int, default=0
        How rows are shuffled.
    keep_models : bool, default=False
        Keep the fitted models in ``fits``.
    progress : bool or callable, default=False
        Tell of each fit: on standard error, or to ``progress(done, total, name)``.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 3, noise=1.0, random_state=0)
    >>> result = th.evaluate(th.Ridge(), data.X, data.y, scoring=["r2", "neg_mean_squared_error"])
    >>> bool(result.intervals["r2"].low < result.intervals["r2"].estimate)
    True
    """
    name = name or type(model).__name__
    found = evaluate_all(
        {name: model},
        X,
        y,
        cv=cv,
        scoring=scoring,
        interval=interval,
        level=level,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
        keep_models=keep_models,
        progress=progress,
    )
    return found[name]


def evaluate_all(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    scoring: Any,
    interval: str,
    level: float,
    groups: Any,
    sample_weight: Any,
    random_state: Any,
    keep_models: bool,
    progress: bool | Progress,
) -> dict[str, Evaluation]:
    """Every model on the same folds."""
    require_level(level)
    y = one_column(y)
    targets = np.asarray(y)
    found = len(targets) if targets.ndim else 0
    if found != rows_in(X):
        raise DataError(f"X has {rows_in(X)} rows and y {found}. Give one target per row.")
    classify = [is_classifier(model) for model in models.values()]
    if any(classify) and not all(classify):
        raise ParameterError(
            "Some of these models are classifiers and some are not; their scores have nothing in "
            "common. Evaluate them apart."
        )
    folds = folds_of(
        cv, X, targets, classifier=all(classify), groups=groups, random_state=random_state
    )
    weight = None if sample_weight is None else as_weight(sample_weight, len(targets), "evaluate")
    scorers = {name: scorers_for(model, scoring) for name, model in models.items()}
    fits = cross_fit(
        models,
        X,
        y,
        folds,
        scorers,
        sample_weight=weight,
        keep=keep_models,
        progress=_teller(progress),
    )
    by_model = {name: [fit for fit in fits if fit.model == name] for name in models}
    known = {
        name: _known_metrics(model, scorers[name], scoring, by_model[name], targets)
        for name, model in models.items()
    }
    return {
        name: _evaluation(name, own, targets, folds, known[name], interval, level, random_state)
        for name, own in by_model.items()
    }


def scorers_for(model: Any, scoring: Any) -> dict[str, Scorer]:
    """Metrics by name; without any, that of the model's own ``score``."""
    if scoring is None:
        if own_score(model) == "accuracy":
            return {"accuracy": accuracy_scorer}
        name = "accuracy" if is_classifier(model) else "r2"
        return {name: check_scoring(model)}
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if not isinstance(scoring, Mapping):
        labels = [_label(each) for each in scoring]
        if len(set(labels)) < len(labels):
            raise ParameterError(
                f"scoring: two metrics are called alike in {labels}. Give a dict with their names."
            )
        scoring = dict(zip(labels, scoring, strict=True))
    if not scoring:
        raise ParameterError(f"scoring={scoring!r} names no metric. Name one, such as 'accuracy'.")
    return {name: get_scorer(each) for name, each in scoring.items()}


def _label(scorer: Any) -> str:
    return scorer if isinstance(scorer, str) else getattr(scorer, "__name__", "score")


def _known_metrics(
    model: Any, scorers: Mapping[str, Scorer], scoring: Any, fits: list[FoldFit], y: Array
) -> dict[str, str | None]:
    """By what name scikit-learn knows each metric, its label here notwithstanding."""
    if scoring is not None:
        return {label: known_as(scorer) for label, scorer in scorers.items()}
    ((label, _),) = scorers.items()
    known = own_score(model)
    if known is None and is_classifier(model):
        # A score of the model's own that is the share of right rows on every fold is an accuracy.
        right = [rows_right(fit.predictions, y[fit.rows]) for fit in fits]
        if all(
            told is not None and np.isclose(told.mean(), fit.scores[label], rtol=0, atol=1e-12)
            for told, fit in zip(right, fits, strict=True)
        ):
            known = "accuracy"
    return {label: known}


def _evaluation(
    name: str,
    fits: list[FoldFit],
    y: Array,
    folds: list[Fold],
    known: dict[str, str | None],
    interval: str,
    level: float,
    random_state: Any,
) -> Evaluation:
    scores = {metric: np.array([fit.scores[metric] for fit in fits]) for metric in fits[0].scores}
    intervals = {
        metric: score_interval(
            fits,
            metric,
            y,
            known=known[metric],
            kind=interval,
            level=level,
            random_state=random_state,
        )
        for metric in scores
    }
    predictions = certainties = None
    if are_a_partition(folds, len(y)):
        predictions = _in_order(fits, [fit.predictions for fit in fits])
        if all(fit.certainty is not None for fit in fits):
            certainties = _in_order(fits, [fit.certainty for fit in fits])
    return Evaluation(name, intervals, scores, predictions, certainties, tuple(fits), known)


def _in_order(fits: list[FoldFit], parts: list[Any]) -> Array | None:
    """Values of held-back rows in the order of the rows; None when their shapes differ."""
    if len({part.shape[1:] for part in parts}) > 1:
        return None
    values = np.concatenate(parts)
    ordered = np.empty_like(values)
    ordered[np.concatenate([fit.rows for fit in fits])] = values
    return ordered


def _teller(progress: bool | Progress) -> Progress | None:
    if callable(progress):
        return progress
    return _tell if progress else None


def _tell(done: int, total: int, name: str) -> None:
    end = "\n" if done == total else "\r"
    print(f"{done} of {total} fits ({name})", end=end, file=sys.stderr, flush=True)
