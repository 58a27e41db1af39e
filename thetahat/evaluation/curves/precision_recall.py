"""The precision-recall curve with the average precision and a confidence band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.evaluation.curves.bands import pointwise_bounds
from thetahat.evaluation.curves.roc import roc_curve
from thetahat.evaluation.curves.scores import Ranked, rank, two_classes
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.drawing import draws
from thetahat.foundation.types import Array

GRID = np.linspace(0.01, 1.0, 100)


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """Precision and recall for all thresholds, the average precision, and a band.

    Formula: precision(t) = TP/(TP + FP), recall(t) = TP/P; average precision
    Σ (recall_i − recall_{i−1})·precision_i. Cost: O(n) memory.

    Attributes
    ----------
    thresholds, precision, recall : array
        Thresholds, precision and recall, one entry per distinct score, from the highest down.
    average_precision : Interval
        The average precision, with Wilson's interval.
    grid, low, high : array of shape (100,)
        The pointwise band: values of recall, with lower and upper bounds of precision.
    share : float
        The share of positives, which is the precision of random scores.

    Examples
    --------
    >>> import thetahat as th
    >>> curve = th.precision_recall_curve([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> round(curve.average_precision.estimate, 4)
    0.9167
    """

    thresholds: Array
    precision: Array
    recall: Array
    average_precision: Interval
    grid: Array
    low: Array
    high: Array
    share: float

    def __str__(self) -> str:
        return f"Precision-recall curve: average precision {self.average_precision}"

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None, label: str | None = None) -> None:
        """Plot the curve, its band, and the share of positives. Cost: O(n)."""
        average = self.average_precision
        words = f"average {average.estimate:.3f} ({average.low:.3f} to {average.high:.3f})"
        (line,) = axes.step(
            self.recall, self.precision, where="pre", label=f"{label}: {words}" if label else words
        )
        axes.fill_between(self.grid, self.low, self.high, color=line.get_color(), alpha=0.2, lw=0)
        axes.axhline(self.share, color="0.6", lw=0.8, ls="--")
        axes.set(xlabel="recall", ylabel="precision")
        axes.legend(frameon=False)


@described_like(roc_curve)
def precision_recall_curve(
    y: Any, scores: Any, *, positive: Any = None, level: float = 0.95, random_state: Any = 0
) -> PrecisionRecallCurve:
    """Compute precision and recall for every threshold, with an interval and a band.

    Formula: average precision a = Σ (recall_i − recall_{i−1})·precision_i, with Wilson's interval
    for min(n₁, a(1 − a)/v) trials, where n₁ is the number of positives and v the variance of a over
    samples, from its derivatives with respect to the row weights. The band takes the bounds of fpr
    at each recall, computed as the bounds of tpr in `roc_curve`, and converts them to precision for
    the share of positives in the sample. Cost: O(n log n).

    In simulations with normal scores, 95% intervals contained the true value in 96 to 100% of the
    cases, from 5 rows per class on. If a few negatives (one in twenty, of 50) have higher scores
    than all positives, it is 87%, because many samples contain no such negative.

    Parameters
    ----------
    level : float, default=0.95
        Confidence level of the average precision and the band, between 0 and 1.

    Returns
    -------
    PrecisionRecallCurve

    Examples
    --------
    >>> import thetahat as th
    >>> th.precision_recall_curve([0, 1, 1], [0.1, 0.8, 0.9]).precision.tolist()
    [1.0, 1.0, 0.6666666666666666]
    """
    require_level(level)
    is_positive, values, _ = two_classes(y, scores, positive)
    ranked = rank(is_positive, values)
    precision, recall = _of(ranked)
    share = float(is_positive.mean())
    fewest, most = pointwise_bounds(GRID, ranked.true_positives, ranked.false_positives, level)
    return PrecisionRecallCurve(
        ranked.thresholds[1:],
        precision,
        recall,
        _average_interval(ranked, level),
        GRID,
        _precision_at(GRID, most, share),
        _precision_at(GRID, fewest, share),
        share,
    )


def average_precision_interval(y: Any, scores: Any, *, positive: Any = None) -> Interval:
    """The average precision with its interval, without the curve and its band, which cost more."""
    is_positive, values, _ = two_classes(y, scores, positive)
    return _average_interval(rank(is_positive, values), 0.95)


def _of(ranked: Ranked) -> tuple[Array, Array]:
    found, false = ranked.true_positives[1:], ranked.false_positives[1:]
    return found / (found + false), found / ranked.positives


def _precision_at(recall: Array, fpr: Array, share: float) -> Array:
    return share * recall / (share * recall + (1 - share) * fpr)


def _average_interval(ranked: Ranked, level: float) -> Interval:
    average, variance = _average(ranked)
    trials = ranked.positives
    if variance > 0:
        trials = min(trials, average * (1 - average) / variance)
    # Rounding can lift the average slightly above 1.
    found = proportion_interval(min(average, 1.0) * trials, trials, level=level)
    return Interval(average, found.low, found.high, level, "Wilson over positives")


def _average(ranked: Ranked) -> tuple[float, float]:
    """The average precision, and its variance over samples of the same class sizes.

    The weight of a row changes the precision at its own threshold and at all lower ones; the
    variance is the sum of squares of these derivatives, centred within their class.
    """
    found, false = ranked.true_positives[1:], ranked.false_positives[1:]
    called, own = found + false, np.diff(ranked.true_positives)
    precision = found / called
    gain = precision + _from_here_on(own * false / called**2)
    loss = -_from_here_on(own * found / called**2)
    spread = _spread(gain, own) + _spread(loss, np.diff(ranked.false_positives))
    return float(own @ precision) / ranked.positives, spread / ranked.positives**2


def _from_here_on(values: Array) -> Array:
    return values[::-1].cumsum()[::-1]


def _spread(derivative: Array, count: Array) -> float:
    """Σ (d − d̄)², times n/(n − 1), over rows with the multiplicities `count`."""
    n = count.sum()
    centred = derivative - (count @ derivative) / n
    return float(count @ centred**2 * n / max(n - 1, 1))
