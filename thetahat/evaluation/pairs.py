"""Two models on the same folds: the difference of their scores, its test, and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thetahat.evaluation.cross_fitting import rows_right
from thetahat.evaluation.evaluate import Evaluation
from thetahat.evaluation.fold_tests import FoldScores
from thetahat.evaluation.metrics import range_of
from thetahat.evaluation.sampling.design import Design, values_of
from thetahat.evaluation.sampling.judgement import (
    GapOfShares,
    Judgement,
    NoSpread,
    Studentised,
    equivalence,
)
from thetahat.evaluation.sampling.margins import margin_of
from thetahat.evaluation.sampling.row_values import RowValues
from thetahat.evaluation.sampling.several import Several, several
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval
from thetahat.evaluation.statistics.paired import NO_DIFFERENCE, NO_SPREAD
from thetahat.evaluation.verdicts import remarks, sentence_of
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array

TESTS = ("auto", "rows", "corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv")


@dataclass(frozen=True)
class Pair:
    """Two models on the same folds: the difference of their scores, its test, and a summary.

    Formula: d = score(a) − score(b), where a is the better model by the tested quantity. The
    interval excludes 0 if and only if p is below the significance level, and both are adjusted for
    the number of pairs. Cost: O(1).

    Attributes
    ----------
    better, worse : str
        The names of the two models.
    test : HypothesisTest
        The test that the models are equally good. p is adjusted for the number of pairs.
    difference : Interval
        The difference of the mean scores, with its confidence interval, which is adjusted for the
        number of pairs.
    margin : float
        The largest difference that counts as practically equal, in the unit of the metric.
    equivalence : float
        p-value of the hypothesis that the difference is at least as large as the margin (two
        one-sided tests, each at half the significance), adjusted for the number of pairs.
    practically_equal : bool
        Whether the test of equivalence rejects, so that the whole interval of the difference is
        within the margin.
    sentence : str
        A summary of the difference and the tests in words.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> models = {"plain": th.LinearRegression(), "shrunk": th.Ridge(alpha=1e3)}
    >>> pair, = th.compare(models, data.X, data.y).pairs
    >>> pair.better, pair.test.rejects, pair.practically_equal
    ('plain', True, False)
    """

    better: str
    worse: str
    test: HypothesisTest
    difference: Interval
    margin: float
    equivalence: float
    sentence: str

    @property
    def practically_equal(self) -> bool:
        """Whether the difference is within the margin, by the test of equivalence."""
        return bool(self.equivalence < self.test.significance)


def judged_pairs(
    pairs: Sequence[tuple[str, str]],
    evaluations: Mapping[str, Evaluation],
    metric: str,
    targets: Array,
    test: str,
    level: float,
    margin: float | str = "1%",
) -> tuple[Pair, ...]:
    """Test each pair (better, worse), adjusted for the number of pairs."""
    margin_of(margin, 1.0)
    if not pairs:
        return ()
    setting = _Setting.of(evaluations, metric, targets, test, 1 - level)
    together = setting.several(pairs)
    return tuple(
        _pair(*setting.judged(a, b), together, setting, margin_of(margin, setting.best_of(a, b)))
        for a, b in pairs
    )


@dataclass(frozen=True)
class _Setting:
    """Everything that the pairs have in common."""

    evaluations: Mapping[str, Evaluation]
    metric: str
    targets: Array
    test: str
    significance: float
    design: Design
    values: dict[str, RowValues] | None
    """Contributions of the held-out rows, if the test uses them."""

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, Evaluation],
        metric: str,
        targets: Array,
        test: str,
        significance: float,
    ) -> _Setting:
        first = next(iter(evaluations.values()))
        units = np.arange(len(targets)) if first.units is None else first.units
        design, values = Design.of(first.fits, units, first.unit), None
        if test in ("auto", "rows"):
            found = {
                name: values_of(each.fits, metric, each.known_as[metric], targets, units)
                for name, each in evaluations.items()
            }
            kept = {name: each for name, each in found.items() if each is not None}
            if len(kept) == len(found) and design.n_units > 1:
                values = kept
            elif test == "rows":
                raise CapabilityError(_why_not_rows(evaluations, found, metric))
            else:
                test = "corrected_t" if len(first.fits) > 1 else "none"
        return cls(evaluations, metric, targets, test, significance, design, values)

    def several(self, pairs: Sequence[tuple[str, str]]) -> Several:
        """The adjustment for these pairs."""
        if self.values is None:
            return Several(len(pairs))
        blocked = any(each.blocked for each in self.values.values())
        sums = np.column_stack(
            [
                self.design.sums(replace(each.of_gaps, blocked=blocked or each.blocked))
                for each in self.values.values()
            ]
        )
        places = {name: place for place, name in enumerate(self.values)}
        return several([(places[a], places[b]) for a, b in pairs], sums)

    def known(self, a: str, b: str) -> str | None:
        """The name of the metric in scikit-learn, if both models have the same."""
        first, second = (self.evaluations[name].known_as[self.metric] for name in (a, b))
        return first if first == second else None

    def best_of(self, a: str, b: str) -> float:
        """The greater mean score of two models."""
        return max(self.mean_of(a), self.mean_of(b))

    def mean_of(self, name: str) -> float:
        """The mean score of a model over the folds."""
        return float(self.evaluations[name].scores[self.metric].mean())

    def judged(self, a: str, b: str) -> tuple[str, str, HypothesisTest, Judgement]:
        """The test of a pair, the better model first."""
        if self.values is not None:
            return a, b, *self._by_rows(a, b)
        scores = self._fold_scores(a, b)
        found, judged = scores.tested(self.test, self.significance)
        if self.test in ("mcnemar", "wilcoxon") and judged.estimate < 0:
            # Rows of uneven folds and signed ranks may rank the models unlike the mean scores.
            a, b = b, a
            found, judged = scores.turned().tested(self.test, self.significance)
        return a, b, found, judged

    def _by_rows(self, a: str, b: str) -> tuple[HypothesisTest, Judgement]:
        assert self.values is not None
        design, known = self.design, self.known(a, b)
        first, second = (self.evaluations[name].scores[self.metric].mean() for name in (a, b))
        least, most = range_of(known)
        judged = design.gap(
            float(first - second),
            self.values[a],
            self.values[b],
            known,
            most - least,
            design.rarest(known, self.targets),
        )
        assumptions: tuple[str, ...] = (f"independent {design.unit}",)
        statistic, effect = 0.0, None if judged.estimate else 0.0
        degrees: tuple[float, ...] = ()
        if isinstance(judged, NoSpread):
            if judged.reach == np.inf:
                assumptions += (NO_SPREAD,)
        else:
            statistic, degrees = judged.statistic_at(0.0), (judged.degrees,)
            effect = _effect(judged, design.n_units)
        found = HypothesisTest(
            name=f"score test of two shares over {design.unit}"
            if isinstance(judged, GapOfShares)
            else f"t test over {design.unit}",
            hypothesis=NO_DIFFERENCE,
            statistic=statistic,
            degrees_of_freedom=degrees,
            p=judged.p_at(0.0),
            significance=self.significance,
            assumptions=assumptions,
            effect_size=effect,
        )
        return found, judged

    def pooled(self, a: str, b: str) -> tuple[float, float] | None:
        """Accuracies of two models over all held-out rows; None if the means over folds agree."""
        first, second = (
            float(
                np.average(each.scores[self.metric], weights=[len(fit.rows) for fit in each.fits])
            )
            for each in (self.evaluations[a], self.evaluations[b])
        )
        means = [self.mean_of(a), self.mean_of(b)]
        return None if np.allclose([first, second], means, rtol=0, atol=5e-4) else (first, second)

    def _fold_scores(self, a: str, b: str) -> FoldScores:
        first, second = self.evaluations[a], self.evaluations[b]
        right = [_rows_right(each, self.metric, self.targets) for each in (first, second)]
        return FoldScores(
            first.scores[self.metric],
            second.scores[self.metric],
            self.metric,
            self.design.overlap / (1 + self.design.overlap),
            None if right[0] is None or right[1] is None else (right[0], right[1]),
            not self.design.once,
        )


def _why_not_rows(
    evaluations: Mapping[str, Evaluation], found: Mapping[str, RowValues | None], metric: str
) -> str:
    """Why a comparison by rows is not possible, and what to do."""
    without = [name for name, values in found.items() if values is None]
    if not without:
        return (
            "compare: test='rows' needs at least two held-out rows or groups. Use more rows or "
            "groups, or test='corrected_t'."
        )
    name = without[0]
    start = (
        "compare: test='rows' needs a metric of scikit-learn that is computed from the predictions"
    )
    if metric in ("r2", "accuracy") and evaluations[name].known_as[metric] is None:
        return (
            f"{start}, but the score method of model {name!r} is its own and does not return "
            f"{'R²' if metric == 'r2' else metric}. Give a metric for all models, such as "
            f"scoring={metric!r}, or use test='corrected_t'."
        )
    return (
        f"{start}, and the metric {metric!r} of model {name!r} gives no contributions of single "
        "rows on these folds. Use a metric of scikit-learn, such as scoring='r2' or 'accuracy', "
        "or test='corrected_t'."
    )


def _effect(judged: Studentised | GapOfShares, units: float) -> float:
    """Cohen's d over units; for shares, how one-sided the rows are that differ."""
    if not judged.estimate:
        return 0.0
    if isinstance(judged, GapOfShares):
        return judged.estimate / (judged.only_first + judged.only_second)
    return float(judged.estimate / (judged.error * np.sqrt(units)))


def _rows_right(evaluation: Evaluation, metric: str, y: Array) -> Array | None:
    """For accuracy, whether each row is correct, in the order of the folds; otherwise None."""
    if evaluation.known_as[metric] != "accuracy":
        return None
    right = [rows_right(fit.predictions, y[fit.rows]) for fit in evaluation.fits]
    known = [rows for rows in right if rows is not None]
    return np.concatenate(known) if len(known) == len(right) else None


def _pair(
    a: str,
    b: str,
    found: HypothesisTest,
    judged: Judgement,
    together: Several,
    setting: _Setting,
    margin: float,
) -> Pair:
    least, most = range_of(setting.known(a, b))
    low, high = judged.bounds(together.per_pair(setting.significance))
    method = found.name
    if together.pairs > 1:
        method += f", adjusted for {together.pairs} pairs"
    reach = most - least
    difference = Interval(
        judged.estimate, max(low, -reach), min(high, reach), 1 - setting.significance, method
    )
    test = replace(found, p=together.adjusted(found.p), interval=difference)
    same = together.adjusted(equivalence(judged, margin)) if margin > 0 else 1.0
    ranks = setting.test == "wilcoxon"
    pooled = setting.pooled(a, b) if setting.test == "mcnemar" else None
    sentence = sentence_of(
        a,
        b,
        test,
        difference,
        margin,
        same,
        setting.metric,
        setting.known(a, b),
        together.pairs,
        least_p=together.pairs * 2.0 ** (1 - setting.design.n_folds) if ranks else 0.0,
    )
    by_ranks = ranks and setting.mean_of(a) < setting.mean_of(b)
    sentence += remarks(a, b, setting.metric, pooled, by_ranks)
    return Pair(a, b, test, difference, margin, same, sentence)
