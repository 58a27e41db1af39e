"""Two models on the same folds: the difference of their scores, its test, and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

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
"""The power of the test at the sample size that the summary names as sufficient."""
OUT_OF_REACH = 1e9


@dataclass(frozen=True)
class Pair:
    """Two models on the same folds: the difference of their scores, its test, and a summary.

    Formula: d = score(a) − score(b), fold by fold, or row by row in McNemar's test, where a is the
    better model by the tested quantity. Cost: O(1).

    Attributes
    ----------
    better, worse : str
        The names of the two models.
    test : HypothesisTest
        The test that the models are equally good. p is adjusted for the number of pairs (Holm).
    difference : Interval
        The difference of the mean scores, with its confidence interval.
    rows_needed : float
        How many more rows would make the difference significant with probability 0.8, if it keeps
        its size. 0 if it is significant already.
    sentence : str
        A summary of the difference and the test in words.

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
    targets: Array,
    test: str,
    level: float,
) -> tuple[Pair, ...]:
    """Test each pair (better, worse), and adjust the p-values for the number of pairs."""
    fits = next(iter(evaluations.values())).fits
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
            # McNemar's test counts rows; with uneven folds the mean scores may rank differently.
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
    """Scores of two models on the same folds, and the rows that each predicts correctly."""

    a: Array
    b: Array
    metric: str
    known: str | None
    n: int
    test_share: float
    right: tuple[Array, Array] | None
    """For accuracy: whether each held-out row is correct, in the order of the folds."""
    repeated: bool
    """Whether some rows are held out more than once."""

    def turned(self) -> _Scores:
        """The same scores with the two models exchanged."""
        right = None if self.right is None else self.right[::-1]
        return replace(self, a=self.b, b=self.a, right=right)

    def tested(self, test: str, significance: float) -> HypothesisTest:
        """Run the requested test; "auto" takes the best one that the folds allow."""
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
                "compare: test='mcnemar' needs the accuracy of classifiers, and folds that hold "
                f"out each row at most once; the metric here is {self.metric!r}. Use "
                "test='corrected_t'."
            )
        return mcnemar(*self.right, significance=significance)

    def corrected_t(self, significance: float) -> HypothesisTest:
        """The corrected resampled t-test of these folds."""
        return corrected_resampled_t(
            self.a,
            self.b,
            test_share=self.test_share,
            significance=significance,
            least_spread=self._least_spread(),
        )

    def _least_spread(self) -> float:
        """The standard deviation of a fold's accuracy difference by random test rows alone."""
        if self.right is None:
            return 0.0
        first, second = self.right
        only_a, only_b = int((first > second).sum()), int((second > first).sum())
        return float(np.sqrt(variance_of_gap(only_a, only_b, first.size) * self.a.size))


def _rows_right(evaluation: Evaluation, metric: str, y: Array) -> Array | None:
    """For accuracy, whether each row is correct, in the order of the folds; otherwise None."""
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
        assumptions=("broken: the spread cannot be estimated from one fold",),
        interval=Interval(difference, -np.inf, np.inf, 1 - significance, "one fold: unknown"),
    )


def _pair(a: str, b: str, test: HypothesisTest, scores: _Scores, pairs: int) -> Pair:
    # Rank tests and 5x2cv have no interval of their own, so use the corrected t interval.
    difference = test.interval or scores.corrected_t(test.significance).interval
    assert difference is not None
    needed = 0.0 if test.rejects else _rows_needed(test, difference, scores.n)
    more = ""
    if test.name.startswith("Wilcoxon"):
        least = pairs * 2.0 ** (1 - scores.a.size)
        if least >= test.significance:
            needed = np.inf
            more = f"this test cannot give p below {least:.2g} here, so use more folds"
    difference = _in_reach(difference, scores.known)
    sentence = _sentence(a, b, test, difference, needed, scores.known or "", more)
    return Pair(a, b, test, difference, needed, sentence)


def _in_reach(difference: Interval, known: str | None) -> Interval:
    """Limit a difference of two scores to the range of the metric."""
    least, most = range_of(known)
    reach = most - least
    return replace(difference, low=max(difference.low, -reach), high=min(difference.high, reach))


def _rows_needed(test: HypothesisTest, difference: Interval, n: int) -> float:
    """Additional rows needed to detect this difference with probability `POWER`."""
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
        more = _remedy(test, difference, needed)
    return (
        f"{a} and {b} cannot be distinguished with this much data (difference {gap}{unit}, "
        f"{within}, p = {test.p:.2g}); {more}."
    )


def _remedy(test: HypothesisTest, difference: Interval, needed: float) -> str:
    if any("spread" in each for each in test.assumptions if each.startswith("broken")):
        return "these folds do not show its spread, so use more folds or another test"
    if 0 not in difference:
        return "use more folds or another test"
    if needed < OUT_OF_REACH:
        more = _rounded(needed)
        return f"about {more:,} more row{'s' * (more != 1)} would be enough"
    return "no realistic number of rows would be enough"


def _unit(metric: str) -> tuple[str, float]:
    """Shares are printed in percentage points."""
    return (" points", 100.0) if metric.startswith((*SHARES, "r2")) else ("", 1.0)


def _rounded(rows: float) -> int:
    """Rounded to two digits, as such an estimate is rough."""
    digits = max(0, len(str(ceil(rows))) - 2)
    return int(round(rows, -digits))
