"""Grid search: evaluate every setting on the same folds, choose one, and test the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid

from thetahat.data.column_targets import one_column
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.compare import compare
from thetahat.evaluation.cross_fitting import Progress, weight_arguments
from thetahat.evaluation.evaluate import Evaluation, evaluate, evaluate_all
from thetahat.evaluation.folds import targets_of
from thetahat.evaluation.pairs import Pair, judged_pairs
from thetahat.evaluation.statistics.outcome import standard_deviation
from thetahat.foundation.arguments import require_estimator
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

Setting = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """The score of every setting of a grid, and the chosen setting; prints as a table.

    Formula: best = argmax s̄. One standard error: the first setting of the grid with
    s̄ ≥ s̄_best − s_best/√k, over k folds. Cost: O(settings).

    Attributes
    ----------
    metric : str
        The name of the metric that is maximised.
    settings : tuple of dict
        The settings that could be fitted, in the order of the grid.
    evaluations : tuple of Evaluation
        The evaluation of each setting, in the order of `settings`.
    pairs : tuple of Pair
        Tests of the best setting against every other. p-values are adjusted for their number.
    chosen : dict
        The chosen setting, according to the parameter `choose`.
    model : estimator or None
        The model fitted with the chosen setting on all rows. None with ``refit=False``.
    failures : tuple of (dict, Exception)
        The settings that could not be fitted, with the error of the first fold on which they
        failed.
    best, first_within_error : dict
        The setting with the highest mean score, and the first setting of the grid whose mean score
        is within one standard error of it.
    not_worse : list of dict
        The settings that do not differ significantly from the best.
    sentence : str
        A summary of the choice and of its uncertainty in words.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 5, noise=1.0, random_state=0)
    >>> found = th.search(th.Ridge(), {"alpha": [1e4, 1.0]}, data.X, data.y)
    >>> found.best, found.model.alpha
    ({'alpha': 1.0}, 1.0)
    """

    metric: str
    settings: tuple[Setting, ...]
    evaluations: tuple[Evaluation, ...]
    pairs: tuple[Pair, ...]
    chosen: Setting
    model: Any
    failures: tuple[tuple[Setting, Exception], ...] = ()

    @property
    def best(self) -> Setting:
        """The setting with the highest mean score."""
        return self.settings[_best(self.evaluations, self.metric)]

    @property
    def first_within_error(self) -> Setting:
        """The first setting of the grid within one standard error of the best."""
        return self.settings[_first_within_error(self.evaluations, self.metric)]

    @property
    def not_worse(self) -> list[Setting]:
        """The settings that do not differ significantly from the best."""
        of_name = dict(zip((each.name for each in self.evaluations), self.settings, strict=True))
        return [of_name[pair.worse] for pair in self.pairs if not pair.test.rejects]

    @property
    def sentence(self) -> str:
        """A summary of the choice and of its uncertainty in words."""
        name = self.evaluations[_best(self.evaluations, self.metric)].name
        if not self.pairs:
            return f"{name} is the only setting."
        alike, others = len(self.not_worse), len(self.pairs)
        return (
            f"{self.pairs[0].sentence} Of {others} other setting{'s' * (others != 1)}, {alike} "
            f"cannot be distinguished from {name}; the first setting of the grid within one "
            f"standard error of the best is {_name(self.first_within_error)}."
        )

    def __str__(self) -> str:
        width = max(len(each.name) for each in self.evaluations)
        lines = [f"{self.metric}, mean over {len(self.evaluations[0].fits)} folds:"]
        lines += [
            f"{'*' if setting == self.chosen else ' '} {each.name:<{width}}  "
            f"{each.intervals[self.metric]}"
            for setting, each in zip(self.settings, self.evaluations, strict=True)
        ]
        lines += [f"  {_name(each)}  failed: {_reason(error)}" for each, error in self.failures]
        return "\n".join([*lines, self.sentence])

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the mean score and interval of every setting. Cost: O(settings)."""
        for place, (setting, each) in enumerate(zip(self.settings, self.evaluations, strict=True)):
            interval = each.intervals[self.metric]
            colour = "C1" if setting == self.chosen else "C0"
            axes.plot([place, place], [interval.low, interval.high], color=colour, lw=3, alpha=0.4)
            axes.plot(place, interval.estimate, "o", color=colour)
        best = self.evaluations[_best(self.evaluations, self.metric)]
        error = _standard_error(best.scores[self.metric])
        axes.axhline(best.intervals[self.metric].estimate - error, color="0.5", ls=":")
        names = [each.name for each in self.evaluations]
        axes.set(xticks=range(len(names)), ylabel=self.metric)
        axes.set_xticklabels(names, rotation=30, ha="right")


@described_like(compare, evaluate)
@needs_memory
def search(
    model: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    choose: str = "best",
    refit: bool = True,
    level: float = 0.95,
    interval: str = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: bool | Progress = False,
) -> Search:
    """Evaluate every setting of a grid on the same folds, and choose one.

    Formula: argmax over settings of the mean over folds of score(model fitted without the fold,
    fold). The best of many scores is too optimistic: to estimate the score of the chosen model,
    evaluate it on rows that were not used in the search. A setting that cannot be fitted is left
    out with a warning; if all settings fail, the error of the first one is raised. Cost: settings ×
    folds fits, run in parallel with the slowest first, and one more fit.

    Parameters
    ----------
    grid : dict of str to sequence, or list of such dicts
        Names of parameters, as in ``set_params``, and the values to try. For
        ``choose="one_standard_error"``, list the values of simpler models first.
    cv : int, "bootstrap", splitter or iterable, default=5
        How the rows are split into training rows and held-out rows, the same for all settings; see
        `evaluate`.
    scoring : str or callable, optional
        One metric as in scikit-learn: a name such as "accuracy", or a callable
        ``scorer(model, X, y)``. Greater values must be better. By default the model's own
        ``score`` method is used.
    choose : {"best", "one_standard_error"}, default="best"
        Which setting is chosen: the one with the highest mean score, or the first one of the grid
        whose mean score is within one standard error of it.
    refit : bool, default=True
        Whether to fit the model with the chosen setting on all rows.

    Returns
    -------
    Search

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 5, noise=1.0, random_state=0)
    >>> found = th.search(th.Lasso(), {"alpha": [1.0, 0.1, 0.01]}, data.X, data.y, cv="bootstrap")
    >>> found.best
    {'alpha': 0.01}
    """
    require_estimator(model, "search")
    check_value(choose, one_of("best", "one_standard_error"), "choose", "search")
    settings = tuple(_settings(grid))
    names = _distinct([_name(setting) for setting in settings])
    failed: dict[str, Exception] = {}
    found = evaluate_all(
        {
            name: clone(model).set_params(**setting)
            for name, setting in zip(names, settings, strict=True)
        },
        X,
        y,
        cv=cv,
        scoring=scoring,
        interval=interval,
        level=level,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
        keep_models=False,
        progress=progress,
        failed=failed,
    )
    failures = tuple((settings[names.index(name)], error) for name, error in failed.items())
    if failures:
        _report(failures, len(settings))
        settings = tuple(
            each for name, each in zip(names, settings, strict=True) if name not in failed
        )
        names = [name for name in names if name not in failed]
    evaluations = tuple(found[name] for name in names)
    if len(evaluations[0].scores) != 1:
        raise ParameterError(
            f"search: {len(evaluations[0].scores)} metrics given; search by one at a time."
        )
    (metric,) = evaluations[0].scores
    best = _best(evaluations, metric)
    others = sorted(set(names) - {names[best]}, key=lambda name: -_mean(found[name], metric))
    _, truth = targets_of(X, y, "search")
    pairs = judged_pairs(
        [(names[best], other) for other in others], found, metric, truth, "auto", level
    )
    at = best if choose == "best" else _first_within_error(evaluations, metric)
    fitted = None
    if refit:
        chosen = clone(model).set_params(**settings[at])
        weight = None if sample_weight is None else np.asarray(sample_weight)
        weights = {} if weight is None else weight_arguments(chosen, weight)
        targets = () if y is None else (one_column(y),)
        fitted = chosen.fit(X, *targets, **weights)
    return Search(metric, settings, evaluations, pairs, settings[at], fitted, failures)


def _report(failures: Sequence[tuple[Setting, Exception]], n_settings: int) -> None:
    """Warn of settings that could not be fitted; if there are no others, raise the first error."""
    setting, error = failures[0]
    if len(failures) == n_settings:
        raise error
    warn(
        f"search: {len(failures)} of {n_settings} settings could not be fitted and are left out. "
        f"The first is {_name(setting)}: {_reason(error)}",
        FitFailedWarning,
    )


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _settings(grid: Any) -> list[Setting]:
    try:
        settings = list(ParameterGrid(grid))
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            f"search: grid must be a dict of parameter names to sequences of values, or a list of "
            f"such dicts: {failure}"
        ) from None
    if not settings or settings == [{}]:
        raise ParameterError('search: grid is empty. Give values, such as {"alpha": [0.1, 1.0]}.')
    return settings


def _name(setting: Setting) -> str:
    return ", ".join(f"{parameter}={value}" for parameter, value in setting.items())


def _distinct(names: list[str]) -> list[str]:
    """Names of the settings; those that print alike get their position as a suffix."""
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({place})" for place, name in enumerate(names)]


def _mean(evaluation: Evaluation, metric: str) -> float:
    return float(evaluation.scores[metric].mean())


def _best(evaluations: Sequence[Evaluation], metric: str) -> int:
    """The position of the highest mean; the first one if several are equal."""
    return int(np.argmax([_mean(each, metric) for each in evaluations]))


def _standard_error(scores: Array) -> float:
    return standard_deviation(scores) / float(np.sqrt(scores.size)) if scores.size > 1 else 0.0


def _first_within_error(evaluations: Sequence[Evaluation], metric: str) -> int:
    best = evaluations[_best(evaluations, metric)]
    least = _mean(best, metric) - _standard_error(best.scores[metric])
    return next(k for k, each in enumerate(evaluations) if _mean(each, metric) >= least)
