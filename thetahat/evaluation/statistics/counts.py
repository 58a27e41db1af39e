"""Chi-square tests for counts, and confidence intervals for a proportion.

χ² = Σ (n − e)²/e compares counts n with their expectations e under a hypothesis. It is about χ²
distributed, with one degree of freedom for each count that is free to vary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval, sample
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

SMALLEST_EXPECTED = 5.0
"""Expected counts below which the χ² approximation is rough."""

SAME_TOTAL = 1e-8
"""Relative difference up to which two totals are the same but for rounding."""


def chi_square_fit(
    observed: Any, expected: Any = None, *, estimated: int = 0, significance: float = 0.05
) -> HypothesisTest:
    """Test whether counts come from given shares (chi-square goodness-of-fit test).

    Formula: χ² = Σ (n − e)²/e with k − 1 − (parameters estimated from the same counts) degrees of
    freedom. Cost: O(k).

    Parameters
    ----------
    observed : array-like of shape (k,)
        The observed count of each class.
    expected : array-like of shape (k,), optional
        Expected counts, which must have the same total as the observed counts, or expected shares,
        which must add up to 1. By default all shares are equal.
    estimated : int, default=0
        The number of parameters of the shares that were estimated from these counts.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> fair_die = th.statistics.chi_square_fit([8, 9, 19, 5, 8, 11])
    >>> round(fair_die.statistic, 4), fair_die.degrees_of_freedom
    (11.6, (5.0,))
    """
    require_level(significance, "significance")
    n = _counts(observed, "observed", 1)
    e = np.full(n.size, 1 / n.size) if expected is None else _counts(expected, "expected", 1)
    if e.shape != n.shape:
        raise DataError(
            f"observed has {n.size} counts, but expected has {e.size}. Give one for each."
        )
    if not (e > 0).all():
        raise DataError(
            f"expected[{int(np.argmin(e > 0))}] is 0, but every expected count must be positive. "
            "Merge that class with another."
        )
    degrees = n.size - 1 - estimated
    if degrees < 1:
        raise DataError(
            f"{n.size} counts leave {degrees} degrees of freedom, but at least 1 is needed. Use "
            "more classes."
        )
    hypothesis = "the counts follow the given shares"
    return _chi_square(n, _with_total(e, n.sum()), degrees, hypothesis, significance)


def chi_square_independence(
    table: Any, *, yates: bool = False, significance: float = 0.05
) -> HypothesisTest:
    """Test whether the rows and columns of a table of counts are independent.

    Formula: e_ij = (row i)·(column j)/n; χ² = Σ (n_ij − e_ij)²/e_ij with (r − 1)(c − 1) degrees of
    freedom. Cost: O(r·c).

    Parameters
    ----------
    table : array-like of shape (r, c)
        The table of counts, at least 2 × 2.
    yates : bool, default=False
        Whether to move each count by up to ½ towards its expectation, for 2 × 2 tables only. The
        test is then more conservative.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest
        ``details["expected"]`` holds the expected counts; the effect size is Cramér's V.

    Examples
    --------
    >>> import thetahat as th
    >>> test = th.statistics.chi_square_independence([[38, 9], [31, 22]])
    >>> test.details["expected"].round(2).tolist()
    [[32.43, 14.57], [36.57, 16.43]]
    >>> print(test.decision)
    rows and columns are independent: rejected at 5%
    """
    require_level(significance, "significance")
    n = _counts(table, "table", 2)
    if min(n.shape) < 2:
        raise DataError(
            f"table has shape {n.shape}. Give at least two rows and two columns of counts."
        )
    expected = np.outer(n.sum(axis=1), n.sum(axis=0)) / n.sum()
    if not (expected > 0).all():
        raise DataError("table has a row or column of zeros. Leave it out.")
    if yates and n.shape != (2, 2):
        raise ParameterError(f"yates=True needs a 2 × 2 table; this one has shape {n.shape}.")
    degrees = (n.shape[0] - 1) * (n.shape[1] - 1)
    found = _chi_square(
        n, expected, degrees, "rows and columns are independent", significance, yates=yates
    )
    strength = np.sqrt(found.statistic / (n.sum() * (min(n.shape) - 1)))
    return HypothesisTest(**{**vars(found), "effect_size": float(strength)})


def proportion_interval(
    successes: float, trials: float, *, method: str = "wilson", level: float = 0.95
) -> Interval:
    """Compute a confidence interval for a probability, from successes in independent trials.

    Formula: "wilson" inverts the score test, (p̂ + z²/2n ± z√(p̂(1−p̂)/n + z²/4n²))/(1 + z²/n);
    its coverage is close to the level on average. "clopper_pearson" inverts the binomial tails by
    quantiles of Beta distributions; its coverage is at least the level for every p. Cost: O(1).

    Parameters
    ----------
    successes, trials : float
        The number of successes and the number of trials.
    method : {"wilson", "clopper_pearson"}, default="wilson"
        How the interval is computed; "clopper_pearson" is wider.
    level : float, default=0.95
        Confidence level of the interval, between 0 and 1. A larger value gives a wider interval.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.statistics.proportion_interval(0, 20, method="clopper_pearson"))
    0, 95% interval 0 to 0.1684 (Clopper-Pearson)
    """
    from scipy.special import betainccinv, betaincinv, ndtri

    require_level(level)
    check_value(method, one_of("wilson", "clopper_pearson"), "method", "proportion_interval")
    if not (trials > 0 and 0 <= successes <= trials):
        raise DataError(
            f"{successes:g} successes in {trials:g} trials: trials must be positive, and successes "
            "must lie between 0 and trials."
        )
    share, tail = successes / trials, (1 - level) / 2
    if method == "wilson":
        z2 = float(ndtri(tail)) ** 2
        centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
        root = np.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2))
        half = np.sqrt(z2) * root / (1 + z2 / trials)
        low = 0.0 if successes == 0 else max(0.0, float(centre - half))
        high = 1.0 if successes == trials else min(1.0, float(centre + half))
        return Interval(share, low, high, level, "Wilson")
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, failures, tail)) if failures else 1.0
    return Interval(share, low, high, level, "Clopper-Pearson")


def _chi_square(
    n: Array,
    expected: Array,
    degrees: int,
    hypothesis: str,
    significance: float,
    *,
    yates: bool = False,
) -> HypothesisTest:
    from scipy import stats

    gap = np.abs(n - expected)
    gap = np.maximum(gap - 0.5, 0.0) if yates else gap
    statistic = float((gap**2 / expected).sum())
    small = int((expected < SMALLEST_EXPECTED).sum())
    about_size = f"every expected count is at least {SMALLEST_EXPECTED:g}"
    if small:
        about_size = f"broken: {small} of {expected.size} expected counts are below 5; p is rough"
    return HypothesisTest(
        name="chi-square test" + (" with Yates' correction" if yates else ""),
        hypothesis=hypothesis,
        statistic=statistic,
        degrees_of_freedom=(float(degrees),),
        p=float(stats.chi2.sf(statistic, degrees)),
        significance=significance,
        assumptions=("independent observations", about_size),
        details={"expected": expected, "critical": float(stats.chi2.isf(significance, degrees))},
    )


def _with_total(expected: Array, total: float) -> Array:
    """The expected counts, from counts of this total or from shares; other totals are refused."""
    found = expected.sum()
    for allowed in (total, 1.0):
        if abs(found - allowed) <= SAME_TOTAL * allowed:
            return expected * (total / found)
    raise DataError(
        f"expected adds up to {found:g}, but observed to {total:g}. Give expected counts with the "
        "same total, or shares that add up to 1: expected / sum(expected)."
    )


def _counts(values: Any, role: str, dimensions: int) -> Array:
    counts = np.asarray(values, dtype=float)
    if counts.ndim != dimensions:
        raise DataError(
            f"{role} has shape {counts.shape}. Give an array of {dimensions} "
            f"dimension{'s' * (dimensions != 1)}."
        )
    sample(counts.ravel(), role)
    if (counts < 0).any() or not counts.sum() > 0:
        raise DataError(f"{role} holds {counts.min():g}; counts must be ≥ 0, and not all 0.")
    return counts
