"""Compare models on the same folds, with a proper test and an honest sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from thetahat.evaluation.cross_fitting import Progress, where_they_ran
from thetahat.evaluation.evaluate import Evaluation, evaluate_all
from thetahat.evaluation.pairs import TESTS, Pair, judged_pairs
from thetahat.evaluation.statistics.outcome import HypothesisTest, require_level
from thetahat.evaluation.statistics.ranks import friedman, nemenyi
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.optional import optional_import


@dataclass(frozen=True)
class Comparison:
    """Models side by side, best first, and every pair of them tested; prints as a report.

    Formula: the same folds for all, so that differences are taken fold by fold. Cost: O(k²) pairs.

    Attributes
    ----------
    metric : str
        What is compared.
    evaluations : dict of str to Evaluation
        Every model's, best first.
    pairs : tuple of Pair
        Every pair of models, tested.
    level : float
        The confidence of intervals and tests.
    among_all : HypothesisTest or None
        Friedman's test that all are alike, for three models or more.
    nemenyi : HypothesisTest or None
        Nemenyi's test of all pairs by their ranks, for three models or more.
    where : str
        Whether fits ran on threads or in worker processes, and why.

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

    @cached_property
    def among_all(self) -> HypothesisTest | None:
        """Friedman's test."""
        table = self._ranked
        return None if table is None else friedman(table, significance=1 - self.level)

    @cached_property
    def nemenyi(self) -> HypothesisTest | None:
        """Nemenyi's test, worked out when somebody asks: its law is an integral."""
        table = self._ranked
        return None if table is None else nemenyi(table, significance=1 - self.level)

    @property
    def _ranked(self) -> Any:
        """A row of scores per fold, a column per model; None where ranks say nothing."""
        table = np.column_stack([each.scores[self.metric] for each in self.evaluations.values()])
        return table if table.shape[1] > 2 and len(table) > 1 else None

    @property
    def where(self) -> str:
        """Where the fits ran, and why."""
        return where_they_ran([fit for each in self.evaluations.values() for fit in each.fits])

    @property
    def best(self) -> str:
        """The model of the highest mean score."""
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
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Every model's mean score and interval, best first. Cost: O(models).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="Comparison.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        names = list(self.evaluations)
        for place, name in enumerate(reversed(names)):
            evaluation = self.evaluations[name]
            interval, scores = evaluation.intervals[self.metric], evaluation.scores[self.metric]
            axes.plot([interval.low, interval.high], [place, place], color="C0", lw=3, alpha=0.4)
            axes.plot(scores, np.full(scores.size, place), "|", color="0.5", ms=9)
            axes.plot(interval.estimate, place, "o", color="C0")
        axes.set(yticks=range(len(names)), yticklabels=names[::-1], xlabel=self.metric)
        return axes


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    scoring: Any = None,
    test: str = "auto",
    level: float = 0.95,
    interval: str = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: bool | Progress = False,
) -> Comparison:
    """Fit several models on the same folds, and say which is better, by how much, and how surely.

    Formula: t = d̄/√((1/k + n_test/n_train)·s_d²) by default; p-values of several pairs are adjusted
    by Holm's rule. Cost: (models × folds) fits, side by side.

    Parameters
    ----------
    models : dict of str to estimator
        At least two, by name.
    X, y : array-like, sparse, table
        Rows and targets in memory.
    cv : int, "bootstrap", splitter or iterable, default=5
        Folds, the same for every model, as in `evaluate`. Ignored by "5x2cv", which has its own.
    scoring : str or callable, optional
        One metric, greater is better; None: the models' own ``score``.
    test : {"auto", "corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv"}, default="auto"
        How two models are tested. "auto": "corrected_t", which is cautious over one partition; on a
        single split, "mcnemar" for accuracies and nothing else. "paired_t" ignores that training
        sets overlap, and rejects true equality too often. "mcnemar" takes the predictions of all
        rows, each counting alike also where folds are uneven, for classifiers. "wilcoxon" cannot
        reject at 5% with fewer than 6 folds. "5x2cv" rejects too often where the signal is weak.
    level : float, default=0.95
        Confidence of intervals; tests reject at 1 − level.
    interval, groups, sample_weight, random_state, progress
        As in `evaluate`.

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
    if not isinstance(models, Mapping):
        raise ParameterError(
            f"compare: models is a {type(models).__name__}; give a dict of models by name, such as "
            '{"plain": LinearRegression(), "shrunk": Ridge()}.'
        )
    if test not in TESTS:
        raise ParameterError(
            f"compare: test={test!r} must be one of {', '.join(map(repr, TESTS))}."
        )
    if len(models) < 2:
        raise ParameterError(
            f"compare: {len(models)} model given; two are needed for a comparison."
        )
    if test == "5x2cv":
        kind = RepeatedKFold
        if all(is_classifier(model) for model in models.values()):
            kind = RepeatedStratifiedKFold
        cv = kind(n_splits=2, n_repeats=5, random_state=random_state)
    found = evaluate_all(
        models,
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
    metrics = list(next(iter(found.values())).scores)
    if len(metrics) != 1:
        raise ParameterError(f"compare: {len(metrics)} metrics given; compare by one at a time.")
    metric = metrics[0]
    ranked = sorted(found, key=lambda name: -found[name].scores[metric].mean())
    evaluations = {name: found[name] for name in ranked}
    pairs = judged_pairs(list(combinations(ranked, 2)), evaluations, metric, y, test, level)
    return Comparison(metric, evaluations, pairs, level)
