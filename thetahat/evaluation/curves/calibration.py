"""Calibration curve: predicted probabilities against the observed shares of positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, one_of, whole
from thetahat.evaluation.curves.scores import two_classes
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class CalibrationCurve:
    """Predicted probabilities against the observed shares of positives, bin by bin.

    Formula: in each bin, the mean prediction and the share of positives with Wilson's interval;
    expected calibration error Σ (n_b/n)·|share_b − mean_b|. Cost: O(bins) memory.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        The mean predicted probability in each bin.
    observed : tuple of Interval
        The share of positives in each bin, with its interval.
    counts : array of shape (n_bins,)
        The number of rows in each bin.
    error : float
        The expected calibration error. 0 is perfect.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> p = random.random(2000)
    >>> th.calibration_curve(random.random(2000) < p, p).error < 0.05
    True
    """

    predicted: Array
    observed: tuple[Interval, ...]
    counts: Array
    error: float

    def __str__(self) -> str:
        outside = sum(p not in o for p, o in zip(self.predicted, self.observed, strict=True))
        return (
            f"Calibration over {len(self.observed)} bin{'s' * (len(self.observed) != 1)}: expected "
            f"calibration error {self.error:.4g}; the mean prediction lies outside the interval in "
            f"{outside} bin{'s' * (outside != 1)}"
        )

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None, label: str | None = None) -> None:
        """Plot the observed shares with their intervals against the predictions. Cost: O(bins)."""
        share = np.array([interval.estimate for interval in self.observed])
        ends = np.array([[interval.low, interval.high] for interval in self.observed]).T
        axes.errorbar(self.predicted, share, yerr=np.abs(ends - share), fmt="o-", label=label)
        axes.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls="--")
        axes.set(xlabel="predicted probability", ylabel="observed share", aspect="equal")
        if label:
            axes.legend(frameon=False)


def calibration_curve(
    y: Any,
    probabilities: Any,
    *,
    bins: int = 10,
    strategy: str = "quantile",
    positive: Any = None,
    level: float = 0.95,
) -> CalibrationCurve:
    """Compare predicted probabilities with the observed shares of positives.

    A model is calibrated if, for example, about 70% of the rows with a prediction near 0.7 are
    positive.

    Formula: rows are sorted into bins by their prediction; the share of positives in each bin has
    Wilson's interval. Cost: O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels, of two classes.
    probabilities : array-like of shape (n,)
        Predicted probabilities of the positive class, in [0, 1].
    bins : int, default=10
        The number of bins. More bins show finer detail, but have wider intervals.
    strategy : {"quantile", "uniform"}, default="quantile"
        Whether bins have equal numbers of rows ("quantile") or equal width ("uniform").
    positive : label, optional
        The label of the positive class. By default the second label in sorted order.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    >>> import thetahat as th
    >>> curve = th.calibration_curve([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8], bins=2)
    >>> curve.counts.tolist()
    [2, 2]
    """
    require_level(level)
    is_positive, p, _ = two_classes(y, probabilities, positive)
    if p.min() < 0 or p.max() > 1:
        row = int(np.argmax((p < 0) | (p > 1)))
        raise DataError(
            f"calibration_curve: the prediction of row {row} is {p[row]:g}; probabilities must lie "
            "in [0, 1]. Use predict_proba rather than decision_function."
        )
    check_value(bins, whole(1), "bins", "calibration_curve")
    check_value(strategy, one_of("quantile", "uniform"), "strategy", "calibration_curve")
    places = _places(p, int(bins), strategy)
    kept = np.unique(places)
    counts = np.array([int(np.sum(places == place)) for place in kept])
    predicted = np.array([p[places == place].mean() for place in kept])
    observed = tuple(
        proportion_interval(float(is_positive[places == place].sum()), int(n), level=level)
        for place, n in zip(kept, counts, strict=True)
    )
    gaps = np.abs(predicted - [interval.estimate for interval in observed])
    return CalibrationCurve(predicted, observed, counts, float(gaps @ counts / p.size))


def _places(p: Array, bins: int, strategy: str) -> Array:
    if strategy == "uniform":
        return np.minimum((p * bins).astype(int), bins - 1)
    edges = np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1])
    return np.searchsorted(np.unique(edges), p, side="right")
