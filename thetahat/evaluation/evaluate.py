"""Evaluate a model by cross-validation, with a confidence interval for every score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from thetahat.data.source import Source
from thetahat.data.validation import as_weight
from thetahat.estimator.distributed.functions import reads_sources
from thetahat.evaluation.cross_fitting import (
    Fitter,
    FoldFit,
    Progress,
    Scorer,
    cross_fit,
    in_row_order,
    progress_callback,
    rows_right,
)
from thetahat.evaluation.folds import (
    Fold,
    are_a_partition,
    folds_of,
    rows_and_targets,
    targets_of,
)
from thetahat.evaluation.metrics import known_as, own_score, scorers_for
from thetahat.evaluation.sampling.design import are_in_time, units_of_sampling
from thetahat.evaluation.score_intervals import score_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_estimator, require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Evaluation:
    """Cross-validated scores of a model with confidence intervals; prints as a table.

    Formula: the mean over folds of score(model fitted without the fold, fold). Cost: O(n) memory
    for the predictions.

    Attributes
    ----------
    name : str
        The name of the model.
    intervals : dict of str to Interval
        For every metric, the mean score over the folds and its confidence interval.
    scores : dict of str to array of shape (n_folds,)
        For every metric, the score on each fold.
    predictions : array of shape (n,) or None
        For every row, the prediction of the model that was fitted without this row, or its log
        density if the model does not predict. None unless every row is held out exactly once.
    certainties : array or None
        For every row, the decision values or class probabilities of the same model. None if the
        model has neither, or if `predictions` is None.
    fits : tuple of FoldFit
        For every fold, the held-out rows, the predictions, the scores and the times.
    fit_seconds, predict_seconds : array of shape (n_folds,)
        Seconds taken by the fit and by the prediction on each fold.
    known_as : dict of str to str or None
        For every metric, its name in scikit-learn. None if scikit-learn does not have the metric.
    units : array of shape (n,) or None
        For every row, the number of its unit of sampling: the row itself, its group, or its block
        of time.
    unit : str
        What units of several rows are: "groups" or "blocks of time".

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
    units: Array | None = None
    unit: str = "groups"

    @property
    def fit_seconds(self) -> Array:
        """Seconds taken by the fit on each fold."""
        return np.array([fit.fit_seconds for fit in self.fits])

    @property
    def predict_seconds(self) -> Array:
        """Seconds taken by the prediction on each fold."""
        return np.array([fit.predict_seconds for fit in self.fits])

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.fits)} folds, {self.fit_seconds.mean():.3g} s per fit"]
        width = max(map(len, self.intervals))
        lines += [f"  {metric:<{width}}  {self.intervals[metric]}" for metric in self.intervals]
        return "\n".join(lines)

    __repr__ = __str__

    @draws
    def plot(self, metric: str | None = None, axes: Any = None) -> None:
        """Plot the score of each fold, the mean score and its interval. Cost: O(folds).

        Parameters
        ----------
        metric : str, optional
            The metric to plot. By default the first one.
        """
        metric = metric or next(iter(self.scores))
        interval = self.intervals[metric]
        folds = np.arange(1, len(self.fits) + 1)
        if np.isfinite([interval.low, interval.high]).all():
            axes.axhspan(interval.low, interval.high, color="C0", alpha=0.15, lw=0)
        axes.axhline(interval.estimate, color="C0")
        axes.plot(folds, self.scores[metric], "o", color="black")
        axes.set(xlabel="fold", ylabel=metric, xticks=folds, title=f"{self.name}: {interval}")


@reads_sources
def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
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
    """Evaluate a model by cross-validation, with a confidence interval for every score.

    Formula: s̄ = (1/k) Σ score(f_{−fold}, fold). The interval follows from what each held-out row
    contributes to the score: s̄ ± t·√(Σ contribution²), corrected for skewness; Wilson's interval
    for accuracy and DeLong's for the area under the ROC curve, with the same variance. Cost: k
    fits, run in parallel on the available threads, and O(n) for the intervals; metrics without a
    formula are computed from the predictions 25 more times per fold.

    The interval is for the expected score of models trained on this many rows. The units of
    sampling are the rows; the groups, if `groups` is given; or blocks of √n neighbouring rows, if
    every fold trains on rows before those that it holds out. The random choice of the training rows
    adds variance. It is estimated if rows are held out repeatedly; if each is held out once, the
    variance is multiplied by 1 + n_test/n_train for accuracy and the area under the ROC curve, and
    by 1 + n_test/(2·n_train) otherwise. The page "How sure is that?" of the documentation shows how
    often such intervals contain the expected score.

    Parameters
    ----------
    model : estimator
        An estimator with scikit-learn's interface. It is cloned before each fit, so the object
        itself stays unfitted.
    X, y : array-like, sparse, table or Source
        The rows and their targets; y may be a table of one column. Models without targets need no
        y. A `Source` (see ``th.scan``) is read block by block; its targets are loaded into memory.
    cv : int, "bootstrap", splitter or iterable, default=5
        How the rows are split into training rows and held-out rows. An integer is the number of
        folds: the rows are shuffled, and the folds are stratified by class for classifiers.
        "bootstrap" draws 25 training sets with replacement and scores each model on the rows that
        were not drawn (about 37%). A splitter of scikit-learn or an iterable of (train, test) row
        numbers is used as given.
    scoring : str, callable, or list or dict of them, optional
        Metrics as in scikit-learn: names such as "accuracy", or callables
        ``scorer(model, X, y)``. Greater values must be better. By default the model's own
        ``score`` method is used: accuracy, R², or the mean log-likelihood of density models. R² is
        not defined for one row, so regressors are scored by "neg_mean_squared_error" if a fold
        holds out a single row, as in leave-one-out.
    interval : str, default="auto"
        How confidence intervals are computed. "rows" uses the contributions of rows, groups or
        blocks, as described above; "wilson", "clopper_pearson" (accuracy) and "delong" (area under
        the ROC curve) take the rows as independent and the models as fixed or nearly so.
        "corrected_t", "t" and "bootstrap" (draws folds with replacement) use only the scores of the
        folds, which do not show the whole sampling error if folds are stratified or few. "auto" is
        "rows", or "corrected_t" for scores that are not a metric of scikit-learn.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.
    groups : array-like, optional
        The group of each row, such as a patient or a household. Groups are the units of sampling
        of intervals and tests. An integer `cv` then keeps the rows of a group in one fold; other
        splitters receive the groups.
    sample_weight : array-like, optional
        Row weights for the fits. The scores are not weighted.
    name : str, optional
        The name of the model in the result. By default the name of its class.
    random_state : int, default=0
        Seed for shuffling or drawing the rows. The same seed gives the same folds.
    keep_models : bool, default=False
        Whether to keep the fitted models, as ``fits[k].estimator``.
    progress : bool or callable, default=False
        Whether to report each finished fit. True prints to standard error. A callable is called
        as ``progress(done, total, name)``.

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
    failed: dict[str, Exception] | None = None,
    fitter: Fitter | None = None,
    stopped: list[str] | None = None,
) -> dict[str, Evaluation]:
    """Evaluate every model on the same folds; `failed`, `fitter`, `stopped` as in `cross_fit`."""
    for each in models.values():
        require_estimator(each, "evaluate")
    require_level(level)
    table, y = rows_and_targets(X, y, sample_weight) if isinstance(X, Source) else (X, y)
    y, targets = targets_of(table, y, "evaluate", models=models.values())
    classify = [is_classifier(model) for model in models.values()]
    if any(classify) and not all(classify):
        raise ParameterError(
            "Some of these models are classifiers and some are not, so their scores cannot be "
            "compared. Evaluate the classifiers and the other models separately."
        )
    if sample_weight is not None:
        require_weights_in_fit(models)
    folds = folds_of(
        cv, table, y, classifier=all(classify), groups=groups, random_state=random_state
    )
    if isinstance(X, Source):  # it is read in the order of its rows
        folds = [(np.sort(train), np.sort(test)) for train, test in folds]
    units = units_of_sampling(folds, len(targets), groups)
    unit = "blocks of time" if groups is None and are_in_time(folds) else "groups"
    weight = None if sample_weight is None else as_weight(sample_weight, len(targets), "evaluate")
    scorers = {
        name: scorers_for(model, scoring, folds, y is not None) for name, model in models.items()
    }
    metrics = list(dict.fromkeys(tuple(each) for each in scorers.values()))
    if len(metrics) > 1:
        raise ParameterError(
            f"These models have different scores by default: {metrics[0][0]} and {metrics[1][0]}. "
            "Give one metric for all models as scoring."
        )
    fits = cross_fit(
        models,
        X,
        y,
        folds,
        scorers,
        sample_weight=weight,
        units=units,
        names={
            name: {
                metric: known_as(scorer) or (_likely_score(model) if scoring is None else None)
                for metric, scorer in scorers[name].items()
            }
            for name, model in models.items()
        },
        keep=keep_models,
        progress=progress_callback(progress),
        failed=failed,
        fitter=fitter,
        stopped=stopped,
    )
    gone = {*(failed or {}), *(stopped or ())}
    models = {name: model for name, model in models.items() if name not in gone}
    by_model = {name: [fit for fit in fits if fit.model == name] for name in models}
    known = {
        name: _known_metrics(model, scorers[name], scoring, by_model[name], targets)
        for name, model in models.items()
    }
    return {
        name: _evaluation(
            name, own, targets, folds, known[name], interval, level, random_state, units, unit
        )
        for name, own in by_model.items()
    }


def require_weights_in_fit(models: Mapping[str, Any]) -> None:
    """Every ``fit`` must take row weights; one that takes any argument may pass them on."""
    for name, model in models.items():
        taken = signature(getattr(model, "steps", [("", model)])[-1][1].fit).parameters
        if "sample_weight" in taken or any(
            each.kind is Parameter.VAR_KEYWORD for each in taken.values()
        ):
            continue
        raise CapabilityError(
            f"sample_weight is given, so every model must accept row weights, but the fit of model "
            f"{name!r} ({type(model).__name__}) has no parameter sample_weight. Leave "
            "sample_weight out, or use models that accept it."
        )


def _likely_score(model: Any) -> str | None:
    """The metric of a model's ``score`` method, or for regressors the one to compare it with."""
    return own_score(model) or ("r2" if is_regressor(model) else None)


def _known_metrics(
    model: Any, scorers: Mapping[str, Scorer], scoring: Any, fits: list[FoldFit], y: Array
) -> dict[str, str | None]:
    """The name of each metric in scikit-learn, which may differ from its label in the result."""
    if scoring is not None:
        return {label: known_as(scorer) for label, scorer in scorers.items()}
    ((label, scorer),) = scorers.items()
    known = known_as(scorer) or own_score(model)
    if known is None and is_classifier(model):
        # If a ``score`` method returns the share of correct rows on every fold, it is accuracy.
        right = [rows_right(fit.predictions, y[fit.rows]) for fit in fits]
        if all(
            rows is not None and np.isclose(rows.mean(), fit.scores[label], rtol=0, atol=1e-12)
            for rows, fit in zip(right, fits, strict=True)
        ):
            known = "accuracy"
    if known is None and is_regressor(model) and all(label in fit.row_values for fit in fits):
        known = "r2"  # contributions exist only if the score is R² on every fold
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
    units: Array,
    unit: str,
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
            units=units,
            joined=unit,
        )
        for metric in scores
    }
    predictions = certainties = None
    if are_a_partition(folds, len(y)):
        predictions = in_row_order(fits, [fit.predictions for fit in fits])
        if all(fit.certainty is not None for fit in fits):
            certainties = in_row_order(fits, [fit.certainty for fit in fits])
    return Evaluation(
        name, intervals, scores, predictions, certainties, tuple(fits), known, units, unit
    )
