"""Compare models on the same folds, with a proper test and an honest sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from thetahat.evaluation.cross_fitting import Progress
from thetahat.evaluation.evaluate import Evaluation, evaluate_all
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval, require_level
from thetahat.evaluation.statistics.paired import (
    corrected_resampled_t,
    five_by_two_cv,
    mcnemar,
    paired_t,
)
from thetahat.evaluation.statistics.ranks import friedman, nemenyi, wilcoxon
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.optional import optional_import

Array = Any
TESTS = ("corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv")
POWER = 0.8
"""The probability with which the rows that the sentence asks for would tell two models apart."""
OUT_OF_REACH = 1e9


@dataclass(frozen=True)
class Pair:
    """Two models on the same folds: the difference of their scores, its test, and the sentence.

    Formula: d = score(a) − score(b), fold by fold; a is the better one. Cost: O(1).

    Attributes
    ----------
    better, worse : str
        The models.
    test : HypothesisTest
        Whether they differ; p is adjusted for the number of pairs (Holm).
    difference : Interval
        Of the mean scores.
    rows_needed : float
        How many more rows would tell them apart, if the difference stays what it is; 0 when they
        are.
    sentence : str
        All that in words.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> models = {"plain": th.LinearRegression(), "shrunk": th.Ridge(alpha=1e3)}
    >>> pair, = th.compare(models, data.X, data.y).pairs
    >>> pair.better, pair.test.rejects
    ('plain', True)
    """

    better: str
    worse: str
    test: HypothesisTest
    difference: Interval
    rows_needed: float
    sentence: str


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
    among_all : HypothesisTest or None
        Friedman's test that all are alike, for three models or more.
    nemenyi : HypothesisTest or None
        Nemenyi's test of all pairs by their ranks, for three models or more.

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
    among_all: HypothesisTest | None
    nemenyi: HypothesisTest | None

    @property
    def best(self) -> str:
        """The model of the highest mean score."""
        return next(iter(self.evaluations))

    def __str__(self) -> str:
        width = max(map(len, self.evaluations))
        lines = [f"{self.metric}, mean over the folds:"]
        lines += [
            f"  {name:<{width}}  {evaluation.intervals[self.metric]}"
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
    test: str = "corrected_t",
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
    cv : int, splitter or iterable, default=5
        Folds, the same for every model. Ignored by "5x2cv", which has its own.
    scoring : str or callable, optional
        One metric, greater is better; None: the models' own ``score``.
    test : {"corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv"}, default="corrected_t"
        How two models are tested. "paired_t" ignores that training sets overlap, and rejects true
        equality too often; "mcnemar" takes the predictions of all rows, for classifiers.
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
    ranked = sorted(found, key=lambda name: -found[name].intervals[metric].estimate)
    evaluations = {name: found[name] for name in ranked}
    table = np.column_stack([evaluations[name].scores[metric] for name in ranked])
    n = len(np.asarray(y))
    held = float(np.mean([len(fit.rows) for fit in evaluations[ranked[0]].fits])) / n
    run = _runner(test, np.asarray(y), held, 1 - level)
    tested = [run(evaluations[a], evaluations[b], metric) for a, b in combinations(ranked, 2)]
    adjusted = holm([each.p for each in tested])
    pairs = tuple(
        _pair(a, b, each, p, metric, n, held, table, ranked)
        for (a, b), each, p in zip(combinations(ranked, 2), tested, adjusted, strict=True)
    )
    several = len(ranked) > 2 and len(table) > 1
    return Comparison(
        metric,
        evaluations,
        pairs,
        friedman(table, significance=1 - level) if several else None,
        nemenyi(table, significance=1 - level) if several else None,
    )


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjustment: the i-th smallest of m p-values times m − i + 1, kept ascending."""
    order = np.argsort(p_values)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = largest
    return adjusted


def _runner(
    test: str, y: Array, test_share: float, significance: float
) -> Callable[[Evaluation, Evaluation, str], HypothesisTest]:
    """The test of two evaluations by one metric."""

    def run(a: Evaluation, b: Evaluation, metric: str) -> HypothesisTest:
        first, second = a.scores[metric], b.scores[metric]
        match test:
            case "corrected_t":
                return corrected_resampled_t(
                    first, second, test_share=test_share, significance=significance
                )
            case "paired_t":
                return paired_t(first, second, significance=significance)
            case "wilcoxon":
                return wilcoxon(first, second, significance=significance)
            case "5x2cv":
                return five_by_two_cv((first - second).reshape(5, 2), significance=significance)
        if a.predictions is None or b.predictions is None or metric != "accuracy":
            raise CapabilityError(
                "compare: test='mcnemar' needs classifiers, accuracy, and folds that hold back "
                f"each row once; this is {metric!r}. Use test='corrected_t'."
            )
        return mcnemar(a.predictions == y, b.predictions == y, significance=significance)

    return run


def _pair(
    a: str,
    b: str,
    test: HypothesisTest,
    p: float,
    metric: str,
    n: int,
    test_share: float,
    table: Array,
    ranked: list[str],
) -> Pair:
    test = replace(test, p=p)
    difference = test.interval
    if difference is None:
        # A test by ranks or by halves has none of its own; the folds' differences give it.
        first, second = (table[:, ranked.index(name)] for name in (a, b))
        difference = corrected_resampled_t(
            first, second, test_share=test_share, significance=test.significance
        ).interval
    assert difference is not None
    needed = 0.0 if test.rejects else _rows_needed(test, difference, n)
    return Pair(a, b, test, difference, needed, _sentence(a, b, test, difference, needed, metric))


def _rows_needed(test: HypothesisTest, difference: Interval, n: int) -> float:
    """Rows beyond the n there are, so that this difference is found with probability `POWER`."""
    from scipy import stats

    if difference.estimate == 0 or not np.isfinite(difference.high):
        return np.inf
    half = (difference.high - difference.low) / 2
    critical = stats.norm.isf(test.significance / 2)
    error = half / critical
    wanted = abs(difference.estimate) / (critical + stats.norm.ppf(POWER))
    return max(1.0, n * (error / wanted) ** 2 - n)


def _sentence(
    a: str, b: str, test: HypothesisTest, difference: Interval, needed: float, metric: str
) -> str:
    unit, scale = _unit(metric)
    gap, low, high = (
        f"{scale * value:.3g}" for value in (difference.estimate, difference.low, difference.high)
    )
    within = f"{100 * difference.level:.3g}% interval {low} to {high}"
    if test.rejects:
        return f"{a} is better than {b} by {gap}{unit}, {within} (p = {test.p:.2g})."
    more = "no number of rows in reach would tell them apart"
    if 0 not in difference:
        more = "more folds may tell, or another test"
    elif needed < OUT_OF_REACH:
        more = f"about {_rounded(needed):,} more rows would"
    return (
        f"{a} and {b} cannot be told apart with this much data (difference {gap}{unit}, {within}, "
        f"p = {test.p:.2g}); {more}."
    )


def _unit(metric: str) -> tuple[str, float]:
    """Shares are told in points, a hundredth each."""
    shares = ("accuracy", "balanced_accuracy", "f1", "precision", "recall", "roc_auc", "r2")
    return (" points", 100.0) if metric in shares else ("", 1.0)


def _rounded(rows: float) -> int:
    """Two digits are all such a number deserves."""
    digits = max(0, len(str(ceil(rows))) - 2)
    return int(round(rows, -digits))
