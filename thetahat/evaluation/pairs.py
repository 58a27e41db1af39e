"""Two models on the same folds: the difference of their scores, its test, and the sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from thetahat.data.column_targets import one_column
from thetahat.evaluation.cross_fitting import rows_right
from thetahat.evaluation.evaluate import Evaluation
from thetahat.evaluation.folds import none_twice
from thetahat.evaluation.metrics import SHARES, range_of
from thetahat.evaluation.score_intervals import overlap_of
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval
from thetahat.evaluation.statistics.paired import (
    NO_DIFFERENCE,
    corrected_resampled_t,
    five_by_two_cv,
    mcnemar,
    paired_t,
    variance_of_gap,
)
from thetahat.evaluation.statistics.ranks import wilcoxon
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array

TESTS = ("auto", "corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv")
POWER = 0.8
"""The probability with which the rows that the sentence asks for would tell two models apart."""
OUT_OF_REACH = 1e9


@dataclass(frozen=True)
class Pair:
    """Two models on the same folds: the difference of their scores, its test, and the sentence.

    Formula: d = score(a) − score(b), fold by fold, or row by row in McNemar's test; a is the better
    one by what is tested. Cost: O(1).

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
    targets, fits = np.asarray(one_column(y)), next(iter(evaluations.values())).fits
    overlap, repeated = overlap_of(fits), not none_twice([fit.rows for fit in fits])
    right = {name: _rows_right(each, metric, targets) for name, each in evaluations.items()}
    tested = []
    for a, b in pairs:
        first, second, rights = evaluations[a], evaluations[b], (right[a], right[b])
        scores = _Scores(
            first.scores[metric],
            second.scores[metric],
            metric,
            first.known_as[metric] if first.known_as == second.known_as else None,
            len(targets),
            overlap / (1 + overlap),
            None if rights[0] is None or rights[1] is None else (rights[0], rights[1]),
            repeated,
        )
        found = scores.tested(test, 1 - level)
        gap = found.interval
        if found.name.startswith("McNemar") and gap is not None and gap.estimate < 0:
            # It counts rows, and uneven folds rank the models otherwise.
            a, b, scores = b, a, scores.turned()
            found = scores.tested(test, 1 - level)
        tested.append((a, b, scores, found))
    adjusted = holm([found.p for *_, found in tested])
    return tuple(
        _pair(a, b, replace(found, p=p), scores, len(pairs))
        for (a, b, scores, found), p in zip(tested, adjusted, strict=True)
    )


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjustment: the i-th smallest of m p-values times m − i + 1, kept ascending."""
    order = np.argsort(p_values)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = largest
    return adjusted


@dataclass(frozen=True)
class _Scores:
    """Scores of two models on the same folds, and which rows either has right."""

    a: Array
    b: Array
    metric: str
    known: str | None
    n: int
    test_share: float
    right: tuple[Array, Array] | None
    """For accuracy: of every row held back, in the order of the folds."""
    repeated: bool
    """Whether some rows are held back more than once."""

    def turned(self) -> _Scores:
        """The same with the models' places exchanged."""
        right = None if self.right is None else self.right[::-1]
        return replace(self, a=self.b, b=self.a, right=right)

    def tested(self, test: str, significance: float) -> HypothesisTest:
        """The test asked for; "auto" takes what the folds allow."""
        folds = self.a.size
        if test == "auto":
            test = "corrected_t"
            if folds == 1:
                test = "mcnemar" if self.right is not None else "none"
        if folds < 2 and test not in ("mcnemar", "none"):
            raise CapabilityError(
                f"compare: test={test!r} needs the scores of at least 2 folds; there is 1. Use "
                "cv=5, or test='mcnemar' for the accuracies of classifiers."
            )
        match test:
            case "corrected_t":
                return self.corrected_t(significance)
            case "paired_t":
                return paired_t(
                    self.a, self.b, significance=significance, least_spread=self._least_spread()
                )
            case "wilcoxon":
                return wilcoxon(self.a, self.b, significance=significance)
            case "5x2cv":
                return five_by_two_cv((self.a - self.b).reshape(5, 2), significance=significance)
            case "none":
                return _untested(float(self.a[0] - self.b[0]), significance)
        if self.right is None or self.repeated:
            raise CapabilityError(
                "compare: test='mcnemar' needs classifiers, accuracy, and folds that hold back "
                f"each row at most once; this is {self.metric!r}. Use test='corrected_t'."
            )
        return mcnemar(*self.right, significance=significance)

    def corrected_t(self, significance: float) -> HypothesisTest:
        """The corrected resampled t test of these folds."""
        return corrected_resampled_t(
            self.a,
            self.b,
            test_share=self.test_share,
            significance=significance,
            least_spread=self._least_spread(),
        )

    def _least_spread(self) -> float:
        """What chance does to differences of accuracies on a fold, if nothing else does."""
        if self.right is None:
            return 0.0
        first, second = self.right
        only_a, only_b = int((first > second).sum()), int((second > first).sum())
        return float(np.sqrt(variance_of_gap(only_a, only_b, first.size) * self.a.size))


def _rows_right(evaluation: Evaluation, metric: str, y: Array) -> Array | None:
    """Of an accuracy, which rows are told right, in the order of the folds."""
    if evaluation.known_as[metric] != "accuracy":
        return None
    right = [rows_right(fit.predictions, y[fit.rows]) for fit in evaluation.fits]
    known = [rows for rows in right if rows is not None]
    return np.concatenate(known) if len(known) == len(right) else None


def _untested(difference: float, significance: float) -> HypothesisTest:
    return HypothesisTest(
        name="no test",
        hypothesis=NO_DIFFERENCE,
        statistic=0.0,
        degrees_of_freedom=(),
        p=1.0,
        significance=significance,
        assumptions=("broken: one fold tells no spread",),
        interval=Interval(difference, -np.inf, np.inf, 1 - significance, "one fold: unknown"),
    )


def _pair(a: str, b: str, test: HypothesisTest, scores: _Scores, pairs: int) -> Pair:
    # A test by ranks or by halves has no interval; the folds' differences give it.
    difference = test.interval or scores.corrected_t(test.significance).interval
    assert difference is not None
    needed = 0.0 if test.rejects else _rows_needed(test, difference, scores.n)
    more = ""
    if test.name.startswith("Wilcoxon"):
        least = pairs * 2.0 ** (1 - scores.a.size)
        if least >= test.significance:
            needed = np.inf
            more = f"p of this test cannot be below {least:.2g} here: more folds may tell"
    difference = _in_reach(difference, scores.known)
    sentence = _sentence(a, b, test, difference, needed, scores.known or "", more)
    return Pair(a, b, test, difference, needed, sentence)


def _in_reach(difference: Interval, known: str | None) -> Interval:
    """A difference of two scores is no larger than the range of the metric."""
    least, most = range_of(known)
    reach = most - least
    return replace(difference, low=max(difference.low, -reach), high=min(difference.high, reach))


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
    a: str,
    b: str,
    test: HypothesisTest,
    difference: Interval,
    needed: float,
    metric: str,
    more: str,
) -> str:
    unit, scale = _unit(metric)
    gap, low, high = (
        f"{scale * value:.3g}" for value in (difference.estimate, difference.low, difference.high)
    )
    within = f"{100 * difference.level:.3g}% interval {low} to {high}"
    if test.rejects:
        return f"{a} is better than {b} by {gap}{unit}, {within} (p = {test.p:.2g})."
    if not more:
        more = _what_would_tell(test, difference, needed)
    return (
        f"{a} and {b} cannot be told apart with this much data (difference {gap}{unit}, {within}, "
        f"p = {test.p:.2g}); {more}."
    )


def _what_would_tell(test: HypothesisTest, difference: Interval, needed: float) -> str:
    if any("spread" in each for each in test.assumptions if each.startswith("broken")):
        return "these folds do not tell its spread: more of them may, or another test"
    if 0 not in difference:
        return "more folds may tell, or another test"
    if needed < OUT_OF_REACH:
        return f"about {_rounded(needed):,} more rows would"
    return "no number of rows in reach would tell them apart"


def _unit(metric: str) -> tuple[str, float]:
    """Shares are told in points, a hundredth each."""
    return (" points", 100.0) if metric.startswith((*SHARES, "r2")) else ("", 1.0)


def _rounded(rows: float) -> int:
    """Two digits are all such a number deserves."""
    digits = max(0, len(str(ceil(rows))) - 2)
    return int(round(rows, -digits))
