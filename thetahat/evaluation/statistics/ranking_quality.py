"""The area under the ROC curve (AUC): its interval, and the test of two areas (DeLong).

    AUC = P(score of a positive > score of a negative) + ½ P(equal)

The mean over all pairs is a two-sample U-statistic. With V₁₀ᵢ the share of negatives ranked below
positive i, and V₀₁ⱼ the share of positives ranked above negative j,

    var(AUC) = var(V₁₀)/n₁ + var(V₀₁)/n₀,

and the same for differences of the V of two scores of the same rows. Cost: O(n log n).

The variance cannot be estimated well from few rows of a class, and not at all from one row.
Intervals therefore add one row to each class, whose squared deviation from the area is ξ, the
variance of V for exponential scores of that area (Hanley and McNeil):

    var(V) = (Σ(V − AUC)² + ξ)/n,    ξ = ½(AUC/(2 − AUC) + 2AUC²/(1 + AUC)) − AUC².

Intervals and the test use the t distribution with the degrees of freedom of both classes together
(Welch).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval, sample
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

NO_SPREAD = 1e-12
"""Squared deviations below this are rounding errors: all placements are equal."""


def auc_interval(positive: Any, scores: Any, *, level: float = 0.95) -> Interval:
    """Compute the area under the ROC curve with DeLong's interval, adapted for few rows.

    Formula: AUC = P(s⁺ > s⁻) + ½P(s⁺ = s⁻); the interval is logit(AUC) ± t·√var/(AUC(1 − AUC)),
    which stays inside (0, 1). var is DeLong's variance with one row added to each class, which has
    the variance of exponential scores, and t has Welch's degrees of freedom. Cost: O(n log n).

    In simulations with normal scores, 95% intervals contained the true area in 93 to 98% of the
    cases from 10 rows of each class, in 92 to 99% with 5 positives among 100 rows, and in 98% or
    more with 2 or 3 positives, when they are wide. With one row of a class the interval is almost
    the whole of (0, 1).

    Parameters
    ----------
    positive : array-like of bool, shape (n,)
        Whether each row is positive.
    scores : array-like of shape (n,)
        One score per row. Greater means more likely positive. Ties count half.
    level : float, default=0.95
        Confidence level of the interval, between 0 and 1. A larger value gives a wider interval.

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
    require_level(level)
    v10, v01 = placements(positive, [scores])
    return interval_of_areas([(v10[0], v01[0])], level, "DeLong")


def interval_of_areas(
    folds: Sequence[tuple[Array, Array]], level: float, method: str, stretch: float = 1.0
) -> Interval:
    """The mean area over disjoint folds, from the placements (V₁₀, V₀₁) of their rows.

    The variance of a class is estimated from its rows in all folds, about the mean area of all
    folds, and multiplied by `stretch`.
    """
    from scipy.special import stdtrit

    area = float(np.mean([above.mean() for above, _ in folds]))
    rows = [sum(values.size for values in side) for side in zip(*folds, strict=True)]
    strays = [
        sum(float(((values - area) ** 2).sum()) for values in side)
        for side in zip(*folds, strict=True)
    ]
    if area <= 0.0 or area >= 1.0 or max(strays) < NO_SPREAD:
        # All pairs are ranked alike, so the estimated variance is 0. Use the exact bound for the
        # probability of a wrong pair, with as many independent pairs as the rarer class has rows.
        slack = 1 - ((1 - level) / 2) ** (1 / min(rows))
        return Interval(
            area, max(0.0, area - slack), min(1.0, area + slack), level, "exact, no spread"
        )
    strayed = (area / (2 - area) + 2 * area**2 / (1 + area)) / 2 - area**2
    parts = [
        (stray + strayed) / n * sum(1 / values.size for values in side) / len(folds) ** 2
        for stray, n, side in zip(strays, rows, zip(*folds, strict=True), strict=True)
    ]
    variance = sum(parts)
    degrees = variance**2 / sum(part**2 / n for part, n in zip(parts, rows, strict=True))
    quantile = -float(stdtrit(degrees, (1 - level) / 2))
    half = quantile * np.sqrt(stretch * variance) / (area * (1 - area))
    odds = np.log(area / (1 - area))
    low, high = (float(1 / (1 + np.exp(-end))) for end in (odds - half, odds + half))
    return Interval(area, low, high, level, method)


def auc_difference(
    positive: Any, scores_a: Any, scores_b: Any, *, significance: float = 0.05
) -> HypothesisTest:
    """Test whether two scores of the same rows have the same area under the ROC curve (DeLong).

    Formula: t = (AUC_a − AUC_b)/√(var_a + var_b − 2cov), with Welch's degrees of freedom of the two
    classes; with many rows of each class this is DeLong's z. With a single row of a class its
    variance is unknown, and the hypothesis is not rejected. Cost: O(n log n).

    In simulations with normal scores and 40 negative rows, the test at 5% rejected 0, 9, 6, 4
    and 4% of true hypotheses with 1, 2, 3, 5 and 10 positive rows.

    Parameters
    ----------
    positive : array-like of bool, shape (n,)
        Whether each row is positive.
    scores_a, scores_b : array-like of shape (n,)
        Scores of the two models, one per row. Greater means more likely positive.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

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
    above, below = placements(positive, [scores_a, scores_b])
    gap = float(above[0].mean() - above[1].mean())
    apart = [values[0] - values[1] for values in (above, below)]
    assumptions: tuple[str, ...] = ("independent rows, many of each class",)
    unknown = np.inf if any(each.any() for each in apart) else 0.0
    parts = [each.var(ddof=1) / each.size if each.size > 1 else unknown for each in apart]
    variance, degrees = float(sum(parts)), np.inf
    if variance == np.inf:
        assumptions = (*assumptions, "broken: one row of a class, so its spread is unknown")
    elif gap and variance < NO_SPREAD:
        # All rows give the same difference, so its spread is too small to estimate, but not 0.
        variance, assumptions = np.inf, (*assumptions, "broken: no row differs from another")
    elif variance > 0:
        rows = [each.size - 1 for each in apart]
        degrees = variance**2 / sum(part**2 / n for part, n in zip(parts, rows, strict=True))
    error = float(np.sqrt(variance))
    statistic = gap / error if gap else 0.0
    law = stats.t(degrees)
    half = float(law.isf(significance / 2)) * error
    return HypothesisTest(
        name="DeLong's test",
        hypothesis="the areas under both ROC curves are equal",
        statistic=statistic,
        degrees_of_freedom=(float(degrees),) if np.isfinite(degrees) else (),
        p=float(2 * law.sf(abs(statistic))),
        significance=significance,
        assumptions=assumptions,
        interval=Interval(
            gap, max(-1.0, gap - half), min(1.0, gap + half), 1 - significance, "DeLong"
        ),
    )


def placements(positive: Any, scores: list[Any]) -> tuple[Array, Array]:
    """V₁₀ of the positives and V₀₁ of the negatives, one row for each of several scores."""
    from scipy.stats import rankdata

    is_positive = sample(positive, "positive", 2) != 0
    columns = [sample(s, "scores", 2) for s in scores]
    if any(column.size != is_positive.size for column in columns):
        sizes = ", ".join(str(column.size) for column in columns)
        raise DataError(f"{is_positive.size} labels and {sizes} scores. Give one score per row.")
    n1 = int(is_positive.sum())
    n0 = is_positive.size - n1
    if not n1 or not n0:
        raise DataError(
            "The area under the ROC curve needs positive and negative rows, but all of these rows "
            "are " + ("positive." if n1 else "negative.")
        )
    v10, v01 = np.empty((len(columns), n1)), np.empty((len(columns), n0))
    for row, column in enumerate(columns):
        among_all = rankdata(column)
        v10[row] = (among_all[is_positive] - rankdata(column[is_positive])) / n0
        v01[row] = 1 - (among_all[~is_positive] - rankdata(column[~is_positive])) / n1
    return v10, v01
