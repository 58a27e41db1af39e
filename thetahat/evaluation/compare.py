"""Compare models on the same folds, and test whether they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from thetahat.data.source import Source
from thetahat.data.validation import as_weight
from thetahat.estimator.distributed.functions import reads_sources
from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.cross_fitting import Progress
from thetahat.evaluation.evaluate import (
    Evaluation,
    evaluate,
    evaluate_all,
    require_weights_in_fit,
)
from thetahat.evaluation.folds import folds_of, rows_and_targets, rows_in, targets_of
from thetahat.evaluation.pairs import TESTS, Pair, judged_pairs
from thetahat.evaluation.sampling.design import are_in_time
from thetahat.evaluation.sampling.margins import margin_of
from thetahat.evaluation.statistics.outcome import HypothesisTest
from thetahat.evaluation.statistics.ranks import friedman, nemenyi
from thetahat.evaluation.tuning.nested import NestedTuning
from thetahat.evaluation.tuning.time_limit import seconds_of
from thetahat.foundation.arguments import require_level
from thetahat.foundation.cached import cached_property
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import CapabilityError, ParameterError


@dataclass(frozen=True)
class Comparison:
    """A comparison of models, best first, with a test of every pair; prints as a report.

    Formula: all models use the same folds, so that scores are compared fold by fold. Cost:
    O(models²) pairs.

    Attributes
    ----------
    metric : str
        The name of the metric by which the models are compared.
    evaluations : dict of str to Evaluation
        The evaluation of every model, the best mean score first.
    pairs : tuple of Pair
        The difference and the test of every pair of models.
    level : float
        Confidence level of the intervals. Tests reject at 1 − level.
    notes : tuple of str
        What else should be known about the comparison, such as models that were not tuned.
    best : str
        The name of the model with the highest mean score.
    among_all : HypothesisTest or None
        Friedman's test that all models are equally good. None for fewer than three models.
    nemenyi : HypothesisTest or None
        Nemenyi's test of all pairs by their mean ranks. None for fewer than three models.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> models = {"plain": th.LinearRegression(), "shrunk": th.Ridge(alpha=1e3)}
    >>> list(th.compare(models, data.X, data.y).evaluations)
    ['plain', 'shrunk']
    """

    metric: str
    evaluations: dict[str, Evaluation]
    pairs: tuple[Pair, ...]
    level: float
    notes: tuple[str, ...] = ()

    @cached_property
    def among_all(self) -> HypothesisTest | None:
        """Friedman's test that all models are equally good; None for fewer than three models."""
        table = self._ranked
        return None if table is None else friedman(table, significance=1 - self.level)

    @cached_property
    def nemenyi(self) -> HypothesisTest | None:
        """Nemenyi's test of all pairs by their mean ranks; None for fewer than three models."""
        table = self._ranked
        return None if table is None else nemenyi(table, significance=1 - self.level)

    @property
    def _ranked(self) -> Any:
        """Scores, one row per fold and one column per model; None with too few for ranks."""
        table = np.column_stack([each.scores[self.metric] for each in self.evaluations.values()])
        return table if table.shape[1] > 2 and len(table) > 1 else None

    @property
    def best(self) -> str:
        """The name of the model with the highest mean score."""
        return next(iter(self.evaluations))

    def __str__(self) -> str:
        width = max(len(str(name)) for name in self.evaluations)
        lines = [f"{self.metric}, mean over the folds:"]
        lines += [
            f"  {name!s:<{width}}  {evaluation.intervals[self.metric]}"
            f"  {evaluation.fit_seconds.mean():.3g} s"
            for name, evaluation in self.evaluations.items()
        ]
        lines += [pair.sentence for pair in self.pairs]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the mean score and interval of every model, best first. Cost: O(models)."""
        names = list(self.evaluations)
        for place, name in enumerate(reversed(names)):
            evaluation = self.evaluations[name]
            interval, scores = evaluation.intervals[self.metric], evaluation.scores[self.metric]
            axes.plot([interval.low, interval.high], [place, place], color="C0", lw=3, alpha=0.4)
            axes.plot(scores, np.full(scores.size, place), "|", color="0.5", ms=9)
            axes.plot(interval.estimate, place, "o", color="C0")
        axes.set(yticks=range(len(names)), yticklabels=names[::-1], xlabel=self.metric)


@described_like(evaluate)
@reads_sources
def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    test: str = "auto",
    level: float = 0.95,
    interval: str = "auto",
    margin: float | str = "1%",
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: bool | Progress = False,
    time_limit: float | str | None = None,
    stack: bool = False,
) -> Comparison:
    """Evaluate several models on the same folds, and test which differ.

    Formula: by default t = d̄/√(Σ contribution²), from what each held-out row contributes to the
    difference d̄ of the mean scores, corrected for skewness; for accuracy the score test of two
    shares (Tango), which is McNemar's test of no difference. The variance is that of `evaluate`.
    Interval and p-value agree, and both are adjusted for the number of pairs by the distribution of
    the largest of all differences. Cost: models × folds fits, run in parallel.

    Two models are practically equal if two one-sided tests (TOST) reject that their difference is
    as large as a margin: the whole interval of the difference lies between −margin and margin.

    Parameters
    ----------
    models : dict of str to estimator
        At least two estimators with scikit-learn's interface, by name. Each is cloned before each
        fit, so the objects themselves stay unfitted.
    cv : int, "bootstrap", splitter or iterable, default=5
        How the rows are split into training rows and held-out rows, the same for all models; see
        `evaluate`. Ignored by test="5x2cv", which has its own folds.
    scoring : str, callable, or list or dict of them, optional
        Metrics as in scikit-learn: names such as "accuracy", or callables ``scorer(model, X, y)``.
        Greater values must be better. The models are compared by the first; the others are
        evaluated too. By default the models' own ``score`` method is used.
    test : {"auto", "rows", "corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv"}
        The test for the difference of two models. By default "auto".

        - "auto": "rows", or "corrected_t" for scores that are not a metric of scikit-learn, such
          as a ``score`` method that returns neither accuracy nor R²; ``scoring="r2"`` then allows
          "rows".
        - "rows": uses the contributions of rows, or of groups or blocks of time, as described in
          `evaluate`.
        - "corrected_t": the corrected resampled t-test of the scores of the folds. It is
          conservative when every row is held out once, and rejects too often when stratified folds
          leave a model without variation.
        - "paired_t": ignores that training sets overlap, so it rejects too often when the models
          are equally good.
        - "wilcoxon": the signed-rank test. The difference is the Hodges-Lehmann estimate, the
          median of the means of all pairs of folds' differences, and the interval is taken from
          the same means. Ties and equal scores count for equality, so p may be larger than that of
          `statistics.wilcoxon`. It cannot reject at 5% with fewer than 6 folds.
        - "mcnemar": compares the predictions row by row; for accuracy of classifiers only. Every
          row has the same weight, even if folds differ in size. It is used without continuity
          correction, which is the score test of two shares, so that p agrees with the interval
          (Tango's).
        - "5x2cv": five repetitions of two folds. It rejects too often when the signal is weak.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. Tests reject at 1 − level.
    interval : str, default="auto"
        How confidence intervals of the scores are computed; see `evaluate`.
    margin : float or str, default="1%"
        The largest difference of two scores that counts as practically equal: a number in the unit
        of the metric, or a percentage of the better score. A larger value calls more pairs
        practically equal. Choose it by what a difference is worth, before you see the scores.
    time_limit : float or str, optional
        Time for tuning the models: a number of seconds, or "90s", "5m", "1h". Every model that
        declares values of its parameters that are worth trying is then tuned, as by `tune`, on the
        training rows of every fold (nested evaluation). Held-out rows are never used for tuning, so
        the scores are those of the whole procedure. The limit is divided among the models by the
        time that they need; a model that is too slow for its share is fitted to a sample of the
        rows. A note of the result names the models that declare no values, and so are not tuned.
        A model that cannot be finished in time is left out if two others can, and a note says so.
        By default, and with 0, nothing is tuned.
    stack : bool, default=False
        Whether to add a stack of up to four models, "stack of the best". In every fold, its members
        and their weights are chosen by the predictions of the searches on the training rows. Needs
        a `time_limit`, and at least two models that give probabilities or numbers.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> models = {"plain": th.LinearRegression(), "shrunk": th.Ridge(alpha=1e3)}
    >>> th.compare(models, data.X, data.y).best
    'plain'
    """
    require_level(level)
    margin_of(margin, 1.0)
    _require_models(models)
    check_value(test, one_of(*TESTS), "test", "compare")
    if test == "5x2cv":
        kind = RepeatedKFold
        if all(is_classifier(model) for model in models.values()):
            kind = RepeatedStratifiedKFold
        cv = kind(n_splits=2, n_repeats=5, random_state=random_state)
    seconds = 0.0 if time_limit is None else seconds_of(time_limit)
    tuning = None
    if seconds:
        tuning = _nested(models, X, y, cv, scoring, groups, sample_weight, random_state, seconds)
    elif stack:
        raise ParameterError(
            'compare: stack=True needs a time limit for tuning the models. Give time_limit="5m", '
            "or add a StackingClassifier or StackingRegressor to the models."
        )
    return compared(
        models,
        X,
        y,
        cv=cv,
        scoring=scoring,
        test=test,
        level=level,
        interval=interval,
        margin=margin,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
        progress=progress,
        tuning=tuning,
        stack=stack,
    )


def compared(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    scoring: Any,
    groups: Any,
    random_state: Any,
    progress: bool | Progress,
    margin: float | str = "1%",
    test: str = "auto",
    level: float = 0.95,
    interval: str = "auto",
    sample_weight: Any = None,
    tuning: NestedTuning | None = None,
    stack: bool = False,
    stopped: list[str] | None = None,
) -> Comparison:
    """Compare models, tuned by `tuning` if it is given; `stopped` as in `cross_fit`.

    If all models but one were stopped, the interrupt is raised again.
    """
    options = {
        "cv": cv if tuning is None else tuning.folds,
        "scoring": scoring,
        "interval": interval,
        "level": level,
        "groups": groups,
        "sample_weight": sample_weight,
        "random_state": random_state,
        "keep_models": False,
    }
    if tuning is None:
        found = evaluate_all(models, X, y, progress=progress, stopped=stopped, **options)
    else:
        found = tuning.evaluated(X, y, options, stack=stack, progress=progress, stopped=stopped)
    if len(found) < 2:
        raise KeyboardInterrupt
    metric = next(iter(next(iter(found.values())).scores))
    ranked = sorted(found, key=lambda name: -found[name].scores[metric].mean())
    evaluations = {name: found[name] for name in ranked}
    table, y = rows_and_targets(X, y, sample_weight) if isinstance(X, Source) else (X, y)
    _, targets = targets_of(table, y, "compare")
    pairs = judged_pairs(
        list(combinations(ranked, 2)), evaluations, metric, targets, test, level, margin
    )
    notes = () if tuning is None else tuning.notes
    return Comparison(metric, evaluations, pairs, level, notes)


def _require_models(models: Any) -> None:
    if not isinstance(models, Mapping):
        raise ParameterError(
            f"compare: models is a {type(models).__name__}. Give a dict of models by name, such as "
            '{"plain": LinearRegression(), "shrunk": Ridge()}.'
        )
    if len(models) < 2:
        raise ParameterError(
            f"compare: {len(models)} model{'s' * (len(models) != 1)} given. Give at least two."
        )
    for name, model in models.items():
        if isinstance(model, type):
            raise ParameterError(
                f"compare: model {name!r} is the class {model.__name__}. Give an object of it, "
                f"such as {model.__name__}()."
            )
        if not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise ParameterError(
                f"compare: model {name!r} is {_short(model)}, which is not an estimator. Give an "
                "object with fit and get_params, such as Ridge()."
            )


def _short(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _nested(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    cv: Any,
    scoring: Any,
    groups: Any,
    sample_weight: Any,
    random_state: Any,
    seconds: float,
) -> NestedTuning:
    """The tuning of the models on the training rows of every fold."""
    if isinstance(X, Source):
        raise CapabilityError(
            "compare: time_limit tunes the models on rows in memory, but these are read block by "
            "block. Leave time_limit out, or load the rows with "
            "X, y, sample_weight = source.arrays()."
        )
    weights = None
    if sample_weight is not None:
        require_weights_in_fit(models)
        weights = as_weight(sample_weight, rows_in(X), "compare")
    y, targets = targets_of(X, y, "compare", several=False, models=models.values())
    classify = all(is_classifier(model) for model in models.values())
    folds = folds_of(cv, X, y, classifier=classify, groups=groups, random_state=random_state)
    return NestedTuning(
        models,
        X,
        targets,
        folds,
        scoring=scoring,
        limit=seconds,
        groups=None if groups is None else np.asarray(groups),
        order=np.arange(len(targets)) if are_in_time(folds) else None,
        weights=weights,
        seed=random_state if isinstance(random_state, int) else 0,
    )
