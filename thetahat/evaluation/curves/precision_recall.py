"""Precision against recall: what share of the finds is right, for every share found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.evaluation.curves.scores import Ranked, rank, resampled, two_classes
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator

Array = Any
RESAMPLES = 300
GRID = np.linspace(0.01, 1.0, 100)


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """Precision and recall for all thresholds, the average precision, and a band.

    Formula: precision(t) = TP/(TP + FP), recall(t) = TP/P; average precision
    Σ (recall_i − recall_{i−1})·precision_i. Cost: O(n) memory.

    Attributes
    ----------
    thresholds, precision, recall : array
        One entry per distinct score, from the highest down.
    average_precision : Interval
        With a bootstrap interval.
    grid, low, high : array of shape (100,)
        The pointwise band: bounds of precision for values of recall.
    share : float
        The share of positives: the precision of a blind guess.

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

    def plot(self, axes: Any = None, label: str | None = None) -> Any:
        """The curve and its band, beside the share of positives. Cost: O(n).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw.
        label : str, optional
            The name of the curve.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import(
            "matplotlib.pyplot", extra="plot", purpose="PrecisionRecallCurve.plot"
        )
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        average = self.average_precision
        words = f"average {average.estimate:.3f} ({average.low:.3f} to {average.high:.3f})"
        (line,) = axes.step(
            self.recall, self.precision, where="pre", label=f"{label}: {words}" if label else words
        )
        axes.fill_between(self.grid, self.low, self.high, color=line.get_color(), alpha=0.2, lw=0)
        axes.axhline(self.share, color="0.6", lw=0.8, ls="--")
        axes.set(xlabel="recall: positives found", ylabel="precision: finds that are right")
        axes.legend(frameon=False)
        return axes


def precision_recall_curve(
    y: Any, scores: Any, *, positive: Any = None, level: float = 0.95, random_state: Any = 0
) -> PrecisionRecallCurve:
    """Precision against recall for every threshold, with an interval and a band by resampling.

    Formula: average precision = Σ (recall_i − recall_{i−1})·precision_i. Cost: O(n log n), times
    300 for interval and band.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two kinds.
    scores : array-like of shape (n,)
        Greater means more likely positive.
    positive : label, optional
        The positive label; the second in order by default.
    level : float, default=0.95
        The confidence.
    random_state : int, Generator or None
        For the resampling.

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
    random = generator(random_state)
    averages, heights = [], []
    for _ in range(RESAMPLES):
        p, r = _of(rank(*resampled(is_positive, values, random)))
        averages.append(_average(p, r))
        heights.append(p[np.minimum(np.searchsorted(r, GRID - 1e-12), r.size - 1)])
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(averages, ends)
    band = np.quantile(heights, ends, axis=0)
    return PrecisionRecallCurve(
        ranked.thresholds[1:],
        precision,
        recall,
        Interval(_average(precision, recall), float(low), float(high), level, "bootstrap"),
        GRID,
        band[0],
        band[1],
        float(is_positive.mean()),
    )


def _of(ranked: Ranked) -> tuple[Array, Array]:
    found, false = ranked.true_positives[1:], ranked.false_positives[1:]
    return found / (found + false), found / ranked.positives


def _average(precision: Array, recall: Array) -> float:
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))
