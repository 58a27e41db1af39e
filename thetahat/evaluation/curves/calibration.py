"""Calibration: whether of the rows given 70% about 70% are positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.evaluation.curves.scores import two_classes
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class CalibrationCurve:
    """Predicted probabilities against observed shares, bin by bin.

    Formula: in each bin, the mean prediction and the share of positives with Wilson's interval;
    expected calibration error Σ (n_b/n)·|share_b − mean_b|. Cost: O(bins) memory.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        The mean prediction of each bin.
    observed : tuple of Interval
        The share of positives in each bin.
    counts : array of shape (n_bins,)
        Rows.
    error : float
        The expected calibration error.

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
            f"Calibration over {len(self.observed)} bins: expected error {self.error:.4g}; "
            f"{outside} bins whose interval excludes their prediction"
        )

    __repr__ = __str__

    def plot(self, axes: Any = None, label: str | None = None) -> Any:
        """Observed shares with their intervals against predictions. Cost: O(bins).

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
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="CalibrationCurve.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        share = np.array([interval.estimate for interval in self.observed])
        ends = np.array([[interval.low, interval.high] for interval in self.observed]).T
        axes.errorbar(self.predicted, share, yerr=np.abs(ends - share), fmt="o-", label=label)
        axes.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls="--")
        axes.set(xlabel="predicted probability", ylabel="observed share", aspect="equal")
        if label:
            axes.legend(frameon=False)
        return axes


def calibration_curve(
    y: Any,
    probabilities: Any,
    *,
    bins: int = 10,
    strategy: str = "quantile",
    positive: Any = None,
    level: float = 0.95,
) -> CalibrationCurve:
    """Compare predicted probabilities with observed shares.

    Formula: rows fall into bins by their prediction; each bin's share of positives has Wilson's
    interval. Cost: O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two kinds.
    probabilities : array-like of shape (n,)
        Predicted probabilities of the positive label, in [0, 1].
    bins : int, default=10
        How many.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of as many rows each, or of equal width.
    positive : label, optional
        The positive label; the second in order by default.
    level : float, default=0.95
        The confidence.

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
            f"calibration_curve: the prediction of row {row} is {p[row]:g}; probabilities lie in "
            "[0, 1]. Use predict_proba rather than decision_function."
        )
    if not (isinstance(bins, int | np.integer) and bins >= 1):
        raise ParameterError(f"calibration_curve: bins={bins!r} must be a whole number ≥ 1.")
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
    if strategy == "quantile":
        edges = np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1])
        return np.searchsorted(np.unique(edges), p, side="right")
    raise ParameterError(
        f"calibration_curve: strategy={strategy!r} must be 'quantile' or 'uniform'."
    )
