"""Errors of predictions: RSS, MSE, RMSE, mean absolute error and R², with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.means import mean_interval
from thetahat.evaluation.statistics.outcome import Interval, pair_of_samples
from thetahat.foundation.arguments import require_level


@dataclass(frozen=True)
class RegressionErrors:
    """Errors of predictions with confidence intervals; prints as a list.

    Formula: r = y − ŷ; RSS = Σr², MSE = RSS/n, RMSE = √MSE, MAE = Σ|r|/n, R² = 1 − RSS/Σ(y − ȳ)².
    Intervals are t intervals of the means of r² and |r|. Cost: O(1).

    Attributes
    ----------
    rss : float
        The residual sum of squares.
    mse, rmse, mae : Interval
        The mean squared error, its square root, and the mean absolute error, with intervals.
    r2 : float
        The coefficient of determination (R²). 1 is a perfect prediction.

    Examples
    --------
    >>> import thetahat as th
    >>> errors = th.regression_errors([1.0, 2.0, 3.0], [1.0, 2.0, 5.0])
    >>> errors.rss, round(errors.rmse.estimate, 4), errors.r2
    (4.0, 1.1547, -1.0)
    """

    rss: float
    mse: Interval
    rmse: Interval
    mae: Interval
    r2: float

    def __str__(self) -> str:
        rows = {"RMSE": self.rmse, "MSE": self.mse, "MAE": self.mae}
        lines = [f"{name:<5} {interval}" for name, interval in rows.items()]
        return "\n".join([*lines, f"RSS   {self.rss:.6g}", f"R²    {self.r2:.4g}"])

    __repr__ = __str__


def regression_errors(y: Any, predicted: Any, *, level: float = 0.95) -> RegressionErrors:
    """Compute errors of predictions, with confidence intervals.

    Formula: RSS = Σ(y − ŷ)², MSE = RSS/n, RMSE = √MSE. Cost: O(n).

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        The true values and the predicted values, at least two. Use rows that were not used for the
        fit.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.

    Returns
    -------
    RegressionErrors

    Examples
    --------
    >>> import thetahat as th
    >>> th.regression_errors([1.0, 2.0], [1.5, 2.5]).mae.estimate
    0.5
    """
    require_level(level)
    truth, called = pair_of_samples(y, predicted)
    residual = truth - called
    mse = _at_least_zero(mean_interval(residual**2, level=level))
    low, high = (float(np.sqrt(end)) for end in (mse.low, mse.high))
    rss, spread = float(residual @ residual), float(((truth - truth.mean()) ** 2).sum())
    return RegressionErrors(
        rss,
        mse,
        Interval(float(np.sqrt(mse.estimate)), low, high, level, f"root of {mse.method}"),
        _at_least_zero(mean_interval(np.abs(residual), level=level)),
        1.0 - rss / spread if spread > 0 else float("nan"),
    )


def _at_least_zero(interval: Interval) -> Interval:
    """Means of squares or absolute values are not negative."""
    return replace(interval, low=max(0.0, interval.low))
