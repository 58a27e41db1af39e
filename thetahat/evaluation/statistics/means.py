"""Tests and intervals for means, and the comparison of two variances.

z = (x̄ − μ)/(σ/√n) ~ N(0, 1)        with σ known
t = (x̄ − μ)/(s/√n) ~ t_{n−1}        with s² = Σ(x − x̄)²/(n − 1)
F = s₁²/s₂² ~ F(n₁−1, n₂−1)         when the variances are equal
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, more_than, none
from thetahat.evaluation.statistics.outcome import (
    HypothesisTest,
    Interval,
    sample,
    standard_deviation,
)
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import DataError

NORMAL_OR_MANY = "independent values, normal or so many that their mean is"


def mean_interval(values: Any, *, sigma: float | None = None, level: float = 0.95) -> Interval:
    """Compute a confidence interval for the mean of a population.

    Formula: x̄ ± z·σ/√n if the standard deviation σ is known, else x̄ ± t_{n−1}·s/√n. Cost: O(n).

    Parameters
    ----------
    values : array-like of shape (n,)
        The values of the sample.
    sigma : float, optional
        Standard deviation of the population, if it is known (σ). Must be positive.
    level : float, default=0.95
        Confidence level of the interval, between 0 and 1. A larger value gives a wider interval.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.statistics.mean_interval([4.0, 5.0, 6.0]))
    5, 95% interval 2.516 to 7.484 (t, 2 degrees of freedom)
    """
    from scipy import stats

    require_level(level)
    check_value(sigma, none | more_than(0), "sigma", "mean_interval")
    x = sample(values, "values", at_least=1 if sigma is not None else 2)
    centre, upper = float(x.mean()), 0.5 + level / 2
    if sigma is not None:
        half, method = stats.norm.ppf(upper) * sigma / np.sqrt(x.size), "z"
    else:
        half = stats.t.ppf(upper, x.size - 1) * standard_deviation(x) / np.sqrt(x.size)
        method = f"t, {x.size - 1} degrees of freedom"
    return Interval(centre, float(centre - half), float(centre + half), level, method)


def mean_test(
    values: Any, mean: float = 0.0, *, sigma: float | None = None, significance: float = 0.05
) -> HypothesisTest:
    """Test whether the mean of a population equals a given number.

    Formula: z = (x̄ − μ)/(σ/√n), or t = (x̄ − μ)/(s/√n) with n − 1 degrees of freedom. Cost: O(n).

    Parameters
    ----------
    values : array-like of shape (n,)
        The values of the sample.
    mean : float, default=0.0
        The mean under the hypothesis (μ).
    sigma : float, optional
        Standard deviation of the population, if it is known (σ). Must be positive.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> th.statistics.mean_test([4.0, 5.0, 6.0], mean=5.0).rejects
    False
    """
    from scipy import stats

    require_level(significance, "significance")
    interval = mean_interval(values, sigma=sigma, level=1 - significance)
    x = np.asarray(values, dtype=float)
    spread = float(sigma if sigma is not None else standard_deviation(x))
    gap = interval.estimate - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.divide(gap, spread / np.sqrt(x.size))) if gap else 0.0
        effect = float(np.divide(gap, spread)) if gap else 0.0
    degrees = () if sigma is not None else (float(x.size - 1),)
    law = stats.norm if sigma is not None else stats.t(x.size - 1)
    return HypothesisTest(
        name="z test of a mean" if sigma is not None else "t test of a mean",
        hypothesis=f"the mean is {mean:g}",
        statistic=statistic,
        degrees_of_freedom=degrees,
        p=float(2 * law.sf(abs(statistic))),
        significance=significance,
        assumptions=(NORMAL_OR_MANY,),
        interval=interval,
        effect_size=effect,
    )


def variance_ratio(a: Any, b: Any, *, significance: float = 0.05) -> HypothesisTest:
    """Test whether two populations have the same variance.

    Formula: F = s_a²/s_b² ~ F(n_a − 1, n_b − 1); p is twice the smaller tail. Cost: O(n).

    Parameters
    ----------
    a, b : array-like
        The values of the two samples.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest
        The interval is that of the ratio of the variances.

    Examples
    --------
    >>> import thetahat as th
    >>> test = th.statistics.variance_ratio([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0])
    >>> round(test.statistic, 6), test.rejects
    (0.01, True)
    """
    from scipy import stats

    require_level(significance, "significance")
    first, second = sample(a, "a", 2), sample(b, "b", 2)
    below = standard_deviation(second)
    if below == 0:
        raise DataError(
            "All values of b are equal, so its variance is 0 and the ratio is not defined."
        )
    ratio = (standard_deviation(first) / below) ** 2
    degrees = (float(first.size - 1), float(second.size - 1))
    law = stats.f(*degrees)
    low, high = ratio / law.ppf(1 - significance / 2), ratio / law.ppf(significance / 2)
    return HypothesisTest(
        name="F test of two variances",
        hypothesis="the variances are equal",
        statistic=ratio,
        degrees_of_freedom=degrees,
        p=float(min(1.0, 2 * min(law.cdf(ratio), law.sf(ratio)))),
        significance=significance,
        assumptions=("independent, normal values; the test is not robust against other shapes",),
        interval=Interval(ratio, float(low), float(high), 1 - significance, "F"),
    )
