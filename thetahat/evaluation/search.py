"""Search the parameters of a model: every setting on the same folds, and how sure the choice is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from thetahat.data.column_targets import one_column
from thetahat.evaluation.cross_fitting import Progress, where_they_ran
from thetahat.evaluation.evaluate import Evaluation, evaluate_all
from thetahat.evaluation.pairs import Pair, judged_pairs
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array

Setting = dict[str, Any]
CHOICES = ("best", "one_standard_error")


@dataclass(frozen=True)
class Search:
    """Every setting of a grid with its score, and the one chosen; prints as a table.

    Formula: best = argmax s̄; one standard error: the first setting of the grid with
    s̄ ≥ s̄_best − s_best/√k, over k folds. Cost: O(settings).

    Attributes
    ----------
    metric : str
        What is maximised.
    settings : tuple of dict
        The settings, in the order of the grid.
    evaluations : tuple of Evaluation
        Of each setting.
    pairs : tuple of Pair
        The best setting tested against every other, p-values adjusted for their number.
    chosen : dict
        The setting that was asked for: the best, or the first within one standard error of it.
    model : estimator or None
        Fitted with the chosen setting on all rows.
    best, first_within_error : dict
        The setting of the highest mean score; the first of the grid within one standard error.
    not_worse : list of dict
        Settings that these rows cannot tell from the best.
    sentence : str
        The choice in words, and how sure it is.
    where : str
        Whether fits ran on threads or in worker processes, and why.

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

    @property
    def best(self) -> Setting:
        """The setting of the highest mean score."""
        return self.settings[_best(self.evaluations, self.metric)]

    @property
    def first_within_error(self) -> Setting:
        """The first setting of the grid within one standard error of the best."""
        return self.settings[_first_within_error(self.evaluations, self.metric)]

    @property
    def not_worse(self) -> list[Setting]:
        """Settings that these rows cannot tell from the best."""
        of_name = dict(zip((each.name for each in self.evaluations), self.settings, strict=True))
        return [of_name[pair.worse] for pair in self.pairs if not pair.test.rejects]

    @property
    def sentence(self) -> str:
        """The choice in words, and how sure it is."""
        name = self.evaluations[_best(self.evaluations, self.metric)].name
        if not self.pairs:
            return f"{name} is the only setting."
        alike = len(self.not_worse)
        return (
            f"{self.pairs[0].sentence} Of {len(self.pairs)} other settings, {alike} cannot be told "
            f"from {name}; the first of all within one standard error of it is "
            f"{_name(self.first_within_error)}."
        )

    @property
    def where(self) -> str:
        """Where the fits ran, and why."""
        return where_they_ran([fit for each in self.evaluations for fit in each.fits])

    def __str__(self) -> str:
        width = max(len(each.name) for each in self.evaluations)
        lines = [f"{self.metric}, mean over {len(self.evaluations[0].fits)} folds:"]
        lines += [
            f"{'*' if setting == self.chosen else ' '} {each.name:<{width}}  "
            f"{each.intervals[self.metric]}"
            for setting, each in zip(self.settings, self.evaluations, strict=True)
        ]
        return "\n".join([*lines, self.sentence])

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Mean score and interval of every setting, in the order of the grid. Cost: O(settings).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="Search.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
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
        return axes


def search(
    model: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: Any,
    y: Any,
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
    """Try every setting of a grid on the same folds, and choose one.

    Formula: argmax over settings of the mean over folds of score(model fitted without the fold,
    fold). The best of many scores flatters itself: judge the choice on rows it has not seen. Cost:
    settings × folds fits, side by side, the longest first; and one more.

    Parameters
    ----------
    model : estimator
        Any of scikit-learn's kind; it is cloned, never fitted itself.
    grid : dict of str to sequence, or list of such dicts
        Parameters, as in ``set_params``, and their values; list those of simple models first, for
        ``choose="one_standard_error"``.
    X, y : array-like, sparse, table
        Rows and targets in memory.
    cv : int, "bootstrap", splitter or iterable, default=5
        Folds, the same for every setting, as in `evaluate`.
    scoring : str or callable, optional
        One metric, greater is better; None: the model's own ``score``.
    choose : {"best", "one_standard_error"}, default="best"
        The setting of the best mean, or the first of the grid within one standard error of it.
    refit : bool, default=True
        Fit the chosen setting on all rows.
    level : float, default=0.95
        Confidence of intervals; tests reject at 1 − level.
    interval, groups, sample_weight, random_state, progress
        As in `evaluate`.

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
    if choose not in CHOICES:
        raise ParameterError(
            f"search: choose={choose!r} must be one of {', '.join(map(repr, CHOICES))}."
        )
    settings = tuple(_settings(grid))
    names = _distinct([_name(setting) for setting in settings])
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
    )
    evaluations = tuple(found[name] for name in names)
    if len(evaluations[0].scores) != 1:
        raise ParameterError(
            f"search: {len(evaluations[0].scores)} metrics given; search by one at a time."
        )
    (metric,) = evaluations[0].scores
    best = _best(evaluations, metric)
    others = sorted(set(names) - {names[best]}, key=lambda name: -_mean(found[name], metric))
    pairs = judged_pairs(
        [(names[best], other) for other in others], found, metric, y, "auto", level
    )
    at = best if choose == "best" else _first_within_error(evaluations, metric)
    fitted = None
    if refit:
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        fitted = clone(model).set_params(**settings[at]).fit(X, one_column(y), **weights)
    return Search(metric, settings, evaluations, pairs, settings[at], fitted)


def _settings(grid: Any) -> list[Setting]:
    try:
        settings = list(ParameterGrid(grid))
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            f"search: grid must be a dict of parameter names to sequences of values, or a list of "
            f"such dicts; {failure}"
        ) from None
    if not settings or settings == [{}]:
        raise ParameterError('search: grid is empty. Give values, such as {"alpha": [0.1, 1.0]}.')
    return settings


def _name(setting: Setting) -> str:
    return ", ".join(f"{parameter}={value}" for parameter, value in setting.items())


def _distinct(names: list[str]) -> list[str]:
    """Values that print alike are told apart by their place."""
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({place})" for place, name in enumerate(names)]


def _mean(evaluation: Evaluation, metric: str) -> float:
    return float(evaluation.scores[metric].mean())


def _best(evaluations: Sequence[Evaluation], metric: str) -> int:
    """The first of the highest means."""
    return int(np.argmax([_mean(each, metric) for each in evaluations]))


def _standard_error(scores: Array) -> float:
    return float(scores.std(ddof=1) / np.sqrt(scores.size)) if scores.size > 1 else 0.0


def _first_within_error(evaluations: Sequence[Evaluation], metric: str) -> int:
    best = evaluations[_best(evaluations, metric)]
    least = _mean(best, metric) - _standard_error(best.scores[metric])
    return next(k for k, each in enumerate(evaluations) if _mean(each, metric) >= least)
