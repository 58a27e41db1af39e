"""Two models on the same folds: the difference of their scores, its test, and the sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from thetahat.evaluation.evaluate import Evaluation
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval
from thetahat.evaluation.statistics.paired import (
    corrected_resampled_t,
    five_by_two_cv,
    mcnemar,
    paired_t,
)
from thetahat.evaluation.statistics.ranks import wilcoxon
from thetahat.foundation.errors import CapabilityError

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


def judged_pairs(
    pairs: Sequence[tuple[str, str]],
    evaluations: Mapping[str, Evaluation],
    metric: str,
    y: Any,
    test: str,
    level: float,
) -> tuple[Pair, ...]:
    """Each pair (better, worse) tested, p-values adjusted for their number."""
    targets = np.asarray(y)
    n = len(targets)
    held = float(np.mean([len(fit.rows) for fit in next(iter(evaluations.values())).fits])) / n
    run = _runner(test, targets, held, 1 - level)
    tested = [run(evaluations[a], evaluations[b], metric) for a, b in pairs]
    adjusted = holm([each.p for each in tested])
    return tuple(
        _pair(a, b, each, p, metric, n, held, evaluations)
        for (a, b), each, p in zip(pairs, tested, adjusted, strict=True)
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
    evaluations: Mapping[str, Evaluation],
) -> Pair:
    test = replace(test, p=p)
    difference = test.interval
    if difference is None:
        # A test by ranks or by halves has none of its own; the folds' differences give it.
        first, second = (evaluations[name].scores[metric] for name in (a, b))
        difference = corrected_resampled_t(
            first, second, test_share=test_share, significance=test.significance
        ).interval
    assert difference is not None
    needed = 0.0 if test.rejects else _rows_needed(test, difference, n)
    return Pair(a, b, test, difference, needed, _sentence(a, b, test, difference, needed, metric))


def _rows_needed(test: HypothesisTest, difference: Interval, n: int) -> float:
    """Rows beyond the n there are, so that this difference is found with probability `POWER`."""
    from scipy.special import ndtri

    if difference.estimate == 0 or not np.isfinite(difference.high):
        return np.inf
    half = (difference.high - difference.low) / 2
    critical = -ndtri(test.significance / 2)
    error = half / critical
    wanted = abs(difference.estimate) / (critical + ndtri(POWER))
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
