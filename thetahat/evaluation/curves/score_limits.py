"""Which values a score can have at all, so that no band goes beyond them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from sklearn import metrics

from thetahat.evaluation.cross_fitting import told_right
from thetahat.evaluation.statistics.outcome import Interval

SHARES = (
    metrics.accuracy_score,
    metrics.average_precision_score,
    metrics.balanced_accuracy_score,
    metrics.f1_score,
    metrics.jaccard_score,
    metrics.precision_score,
    metrics.recall_score,
    metrics.roc_auc_score,
    metrics.zero_one_loss,
    told_right,
)
LOSSES = (
    metrics.brier_score_loss,
    metrics.log_loss,
    metrics.max_error,
    metrics.mean_absolute_error,
    metrics.mean_absolute_percentage_error,
    metrics.mean_squared_error,
    metrics.mean_squared_log_error,
    metrics.median_absolute_error,
    metrics.root_mean_squared_error,
    metrics.root_mean_squared_log_error,
)
AT_MOST_ONE = (metrics.r2_score, metrics.explained_variance_score)


def within_limits(interval: Interval, score: Any) -> Interval:
    """An interval without the values that a score, or a scorer of scikit-learn's, cannot have."""
    function, sign = getattr(score, "_score_func", score), getattr(score, "_sign", 1)
    low, high = -inf, inf
    if function in SHARES:
        low, high = 0.0, 1.0
    elif function in LOSSES:
        low = 0.0
    elif function in AT_MOST_ONE:
        high = 1.0
    if sign < 0:  # a loss turned round, for which greater is better
        low, high = -high, -low
    return replace(interval, low=max(interval.low, low), high=min(interval.high, high))
