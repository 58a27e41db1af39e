"""Tests of two models by their scores on the same folds, or by rows counted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thetahat.evaluation.sampling.judgement import (
    GapOfShares,
    Inverted,
    Judgement,
    NoSpread,
    Studentised,
)
from thetahat.evaluation.sampling.signed_ranks import SignedRanks
from thetahat.evaluation.statistics.outcome import HypothesisTest
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

Judged = tuple[HypothesisTest, Judgement]


@dataclass(frozen=True)
class FoldScores:
    """Scores of two models on the same folds, and for accuracy the rows that are correct."""

    a: Array
    b: Array
    metric: str
    test_share: float
    right: tuple[Array, Array] | None
    """For accuracy: whether each held-out row is correct, in the order of the folds."""
    repeated: bool
    """Whether some rows are held out more than once."""

    def turned(self) -> FoldScores:
        """The same scores with the two models exchanged."""
        right = None if self.right is None else self.right[::-1]
        return replace(self, a=self.b, b=self.a, right=right)

    def tested(self, test: str, significance: float) -> Judged:
        """Run the requested test; the judgement gives its p-value for any difference."""
        folds, difference = self.a.size, self.a - self.b
        mean = float(difference.mean())
        if test == "none":
            return _untested(mean, significance), NoSpread(mean, 1.0, np.inf)
        if folds < 2 and test != "mcnemar":
            raise CapabilityError(
                f"compare: test={test!r} needs the scores of at least 2 folds; there is 1. Use "
                "cv=5, or test='mcnemar' for the accuracies of classifiers."
            )
        match test:
            case "corrected_t" | "paired_t":
                found = self._t(test, significance)
                return found, _of_t(found)
            case "wilcoxon":
                ranks = SignedRanks.of(self.a, self.b)
                found = wilcoxon(self.a, self.b, significance=significance)
                return replace(found, p=ranks.p_at(0.0)), ranks
            case "5x2cv":
                halves = difference.reshape(5, 2)
                found = five_by_two_cv(halves, significance=significance)
                judged = self._inverted(lambda shift: five_by_two_cv(halves - shift).p)
                return found, judged
        if self.right is None or self.repeated:
            raise CapabilityError(
                "compare: test='mcnemar' needs the accuracy of classifiers, and folds that hold "
                f"out each row at most once; the metric is {self.metric!r}. Use "
                "test='corrected_t'."
            )
        return _mcnemar(self.right, significance)

    def _t(self, test: str, significance: float) -> HypothesisTest:
        if test == "paired_t":
            return paired_t(
                self.a, self.b, significance=significance, least_spread=self._least_spread()
            )
        return corrected_resampled_t(
            self.a,
            self.b,
            test_share=self.test_share,
            significance=significance,
            least_spread=self._least_spread(),
        )

    def _inverted(self, test: Callable[[float], float]) -> Judgement:
        difference = self.a - self.b
        mean, reach = float(difference.mean()), float(np.abs(difference).max())
        if reach == 0:
            return NoSpread(0.0, 1.0, 0.0)
        return Inverted(mean, test, 100 * reach, open_end=True)

    def _least_spread(self) -> float:
        """The standard deviation of a fold's accuracy difference by random test rows alone."""
        if self.right is None:
            return 0.0
        first, second = self.right
        only_a, only_b = int((first > second).sum()), int((second > first).sum())
        return float(np.sqrt(variance_of_gap(only_a, only_b, first.size) * self.a.size))


def _of_t(found: HypothesisTest) -> Judgement:
    from scipy.special import stdtrit

    assert found.interval is not None
    estimate, half = found.interval.estimate, found.interval.high - found.interval.estimate
    if not np.isfinite(half):
        return NoSpread(estimate, 1.0, np.inf)
    (degrees,) = found.degrees_of_freedom
    quantile = -float(stdtrit(degrees, found.significance / 2))
    return Studentised(estimate, half / quantile, 0.0, degrees)


def _mcnemar(right: tuple[Array, Array], significance: float) -> Judged:
    """McNemar's test without continuity correction, and the score interval that agrees with it.

    The exact test is conditional on the number of rows that differ, so inverting it bounds the
    difference by their share. The score test (Tango) also takes that share from the sample.
    """
    found = mcnemar(*right, significance=significance)
    only_a, only_b, n = found.details["only_a_right"], found.details["only_b_right"], right[0].size
    judged = GapOfShares(only_a / n, only_b / n, n, np.inf)
    score = replace(
        found,
        name="McNemar's test, as the score test of two shares",
        statistic=(only_a - only_b) ** 2 / max(only_a + only_b, 1),
        degrees_of_freedom=(1.0,),
        p=judged.p_at(0.0),
    )
    return score, judged


def _untested(difference: float, significance: float) -> HypothesisTest:
    return HypothesisTest(
        name="no test",
        hypothesis=NO_DIFFERENCE,
        statistic=0.0,
        degrees_of_freedom=(),
        p=1.0,
        significance=significance,
        assumptions=("broken: the spread cannot be estimated from one fold",),
    )
