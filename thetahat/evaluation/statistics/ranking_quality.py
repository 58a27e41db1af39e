"""The area under the ROC curve, how sure it is, and whether two of them differ (DeLong).

    AUC = P(score of a positive > score of a negative) + ½ P(equal)

The mean over all pairs is a two-sample U-statistic. With V₁₀ᵢ the share of negatives that positive
i outranks, and V₀₁ⱼ the share of positives that outrank negative j,

    var(AUC) = var(V₁₀)/n₁ + var(V₀₁)/n₀,

and the same with covariances for several scores of the same rows. Cost: O(n log n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval, require_level, sample
from thetahat.foundation.errors import DataError

Array = Any


def auc_interval(positive: Any, scores: Any, *, level: float = 0.95) -> Interval:
    """The area under the ROC curve with DeLong's interval.

    Formula: AUC = P(s⁺ > s⁻) + ½P(s⁺ = s⁻); logit(AUC) ± z·√var/(AUC(1 − AUC)), which stays inside
    (0, 1). Cost: O(n log n).

    Parameters
    ----------
    positive : array-like of bool, shape (n,)
        Which rows are positive.
    scores : array-like of shape (n,)
        Greater means more likely positive; ties count half.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import thetahat as th
    >>> area = th.statistics.auc_interval([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> round(area.estimate, 6)
    0.888889
    """
    from scipy import stats

    require_level(level)
    areas, covariance = delong(positive, [scores])
    area, variance = float(areas[0]), float(covariance[0, 0])
    z = float(stats.norm.isf((1 - level) / 2))
    if variance <= 0 or area in (0.0, 1.0):
        # All pairs alike: DeLong's variance is 0 and says nothing. The exact bound for the
        # probability of a wrong pair in as many independent pairs as the rarer class has rows.
        rows = int(min(np.sum(np.asarray(positive) != 0), np.sum(np.asarray(positive) == 0)))
        slack = 1 - ((1 - level) / 2) ** (1 / rows)
        return Interval(
            area, max(0.0, area - slack), min(1.0, area + slack), level, "exact, no spread"
        )
    half = z * np.sqrt(variance) / (area * (1 - area))
    centre = np.log(area / (1 - area))
    low, high = 1 / (1 + np.exp(-(centre - half))), 1 / (1 + np.exp(-(centre + half)))
    return Interval(area, float(low), float(high), level, "DeLong")


def auc_difference(
    positive: Any, scores_a: Any, scores_b: Any, *, significance: float = 0.05
) -> HypothesisTest:
    """Whether two scores of the same rows have the same area under the ROC curve (DeLong).

    Formula: z = (AUC_a − AUC_b)/√(var_a + var_b − 2cov). Cost: O(n log n).

    Parameters
    ----------
    positive : array-like of bool, shape (n,)
        Which rows are positive.
    scores_a, scores_b : array-like of shape (n,)
        The two scores.
    significance : float, default=0.05
        Below which p equality is rejected.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> y = [1, 1, 0, 1, 0, 0]
    >>> test = th.statistics.auc_difference(y, [6, 5, 4, 3, 2, 1], [5, 6, 1, 4, 3, 2])
    >>> round(test.interval.estimate, 4), test.rejects
    (-0.1111, False)
    """
    from scipy import stats

    require_level(significance, "significance")
    areas, covariance = delong(positive, [scores_a, scores_b])
    gap = float(areas[0] - areas[1])
    error = float(np.sqrt(max(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1], 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.divide(gap, error)) if gap else 0.0
    half = float(stats.norm.isf(significance / 2)) * error
    return HypothesisTest(
        name="DeLong's test",
        hypothesis="the areas under both ROC curves are equal",
        statistic=statistic,
        degrees_of_freedom=(),
        p=float(2 * stats.norm.sf(abs(statistic))),
        significance=significance,
        assumptions=("independent rows, many of either class",),
        interval=Interval(gap, gap - half, gap + half, 1 - significance, "DeLong"),
    )


def delong(positive: Any, scores: list[Any]) -> tuple[Array, Array]:
    """Areas and their covariance matrix."""
    from scipy.stats import rankdata

    is_positive = sample(positive, "positive", 2) != 0
    columns = [sample(s, "scores", 2) for s in scores]
    if any(column.size != is_positive.size for column in columns):
        sizes = ", ".join(str(column.size) for column in columns)
        raise DataError(f"{is_positive.size} labels and {sizes} scores: give one score per row.")
    n1 = int(is_positive.sum())
    n0 = is_positive.size - n1
    if not n1 or not n0:
        raise DataError(
            "The area under the ROC curve needs positive and negative rows; all of these are "
            + ("positive." if n1 else "negative.")
        )
    v10, v01 = np.empty((len(columns), n1)), np.empty((len(columns), n0))
    for row, column in enumerate(columns):
        among_all = rankdata(column)
        v10[row] = (among_all[is_positive] - rankdata(column[is_positive])) / n0
        v01[row] = 1 - (among_all[~is_positive] - rankdata(column[~is_positive])) / n1
    covariance = np.zeros((len(columns), len(columns)))
    if n1 > 1:
        covariance += np.atleast_2d(np.cov(v10)) / n1
    if n0 > 1:
        covariance += np.atleast_2d(np.cov(v01)) / n0
    return v10.mean(axis=1), covariance
