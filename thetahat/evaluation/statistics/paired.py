"""Paired tests: whether two models differ, by their scores on the same folds.

Scores from cross-validation share training rows, so their differences d are positively correlated,
and the plain paired t-test rejects too often. The alternatives are:

    corrected t  d̄ / √((1/k + n_test/n_train)·s²),       t_{k−1}   (Nadeau and Bengio)
    5×2 cv t     d₁₁ / √(Σᵢ sᵢ²/5),                      t_5       (Dietterich)
    5×2 cv F     Σᵢⱼ dᵢⱼ² / (2Σᵢ sᵢ²),                   F(10, 5)  (Alpaydın)

If all differences are equal, their spread is unknown: scores of few rows take few values, and agree
by chance. The interval is then unbounded, unless `least_spread` gives the spread to assume.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.statistics.outcome import (
    HypothesisTest,
    Interval,
    are_alike,
    pair_of_samples,
    standard_deviation,
)
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

NO_DIFFERENCE = "both are equally good"
NO_SPREAD = "broken: all differences are the same, so their spread is unknown"


def paired_t(
    a: Any, b: Any, *, significance: float = 0.05, least_spread: float = 0.0
) -> HypothesisTest:
    """Paired t-test of two models' scores on k independent test sets.

    Formula: t = d̄/(s_d/√k) with d = a − b and k − 1 degrees of freedom. The folds of
    cross-validation are not independent: use `corrected_resampled_t` for them. Cost: O(k).

    Parameters
    ----------
    a, b : array-like of shape (k,)
        Scores of the two models on the same test sets.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.
    least_spread : float, default=0.0
        Standard deviation of the differences to assume if all differences are equal. With 0 it is
        taken as unknown, and the hypothesis is not rejected.

    Returns
    -------
    HypothesisTest
        With an interval for the mean difference, and Cohen's d as effect size.

    Examples
    --------
    >>> import thetahat as th
    >>> test = th.statistics.paired_t([0.80, 0.82, 0.79, 0.85], [0.75, 0.78, 0.76, 0.79])
    >>> round(test.statistic, 4), test.rejects
    (6.9714, True)
    """
    first, second = pair_of_samples(a, b)
    return _t_of_differences(
        first,
        second,
        1.0 / first.size,
        "paired t test",
        ("differences that are independent (no shared training rows) and near normal",),
        significance,
        least_spread,
    )


@described_like(paired_t)
def corrected_resampled_t(
    a: Any, b: Any, *, test_share: float, significance: float = 0.05, least_spread: float = 0.0
) -> HypothesisTest:
    """Paired t-test for scores whose training sets overlap, such as those of cross-validation.

    Formula: t = d̄/√((1/k + n_test/n_train)·s²) with k − 1 degrees of freedom. The second term
    accounts for the correlation caused by shared training rows. The test is designed for repeated
    random splits. For k-fold cross-validation it is conservative, most of all for models that
    depend little on the training rows: in simulations it then rejected 0 to 2% of true hypotheses
    at the 5% level. Cost: O(k).

    Parameters
    ----------
    a, b : array-like of shape (k,)
        Scores of the two models on the same k splits.
    test_share : float
        The share of rows in each test set, n_test/(n_test + n_train): 0.2 for five folds.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> a, b = [0.80, 0.82, 0.79, 0.85, 0.81], [0.75, 0.78, 0.76, 0.79, 0.80]
    >>> round(th.statistics.corrected_resampled_t(a, b, test_share=0.2).p, 4)
    0.0422
    """
    require_level(test_share, "test_share")
    first, second = pair_of_samples(a, b)
    return _t_of_differences(
        first,
        second,
        1.0 / first.size + test_share / (1.0 - test_share),
        "corrected resampled t test",
        (f"training sets overlap; their correlation is taken as {test_share:.3g}",),
        significance,
        least_spread,
    )


def five_by_two_cv(
    differences: Any, *, kind: str = "F", significance: float = 0.05
) -> HypothesisTest:
    """Test two models on five repetitions of two-fold cross-validation.

    Formula: with sᵢ² = (dᵢ₁ − d̄ᵢ)² + (dᵢ₂ − d̄ᵢ)², kind "t": d₁₁/√(Σ sᵢ²/5) ~ t₅; kind "F":
    Σ dᵢⱼ²/(2 Σ sᵢ²) ~ F(10, 5), which does not depend on the order of the halves. The effect size
    is d̄/√(Σ sᵢ²/5). Cost: O(1).

    The test assumes that the two halves of a repetition are independent. This does not hold if the
    signal is weak: when the two halves happen to be similar, both models score well. In
    simulations with nearest class means on 100 rows of 10 columns, the test then rejected 15% of
    true hypotheses at the 5% level, and 5 to 6% with a stronger signal or 400 rows.

    Parameters
    ----------
    differences : array-like of shape (5, 2)
        Score of the first model minus score of the second, one row per repetition and one column
        per half.
    kind : {"F", "t"}, default="F"
        Which of the two test statistics to use.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> d = [[0.02, 0.03], [0.01, 0.04], [0.03, 0.02], [0.02, 0.02], [0.04, 0.01]]
    >>> round(th.statistics.five_by_two_cv(d).p, 4)
    0.0945
    """
    from scipy import stats

    require_level(significance, "significance")
    d = np.asarray(differences, dtype=float)
    if d.shape != (5, 2) or not np.isfinite(d).all():
        raise DataError(
            f"five_by_two_cv: differences has shape {d.shape}. Give finite numbers of shape "
            "(5, 2), one row per repetition and one column per half."
        )
    check_value(kind, one_of("F", "t"), "kind", "five_by_two_cv")
    assumptions: tuple[str, ...] = (
        "differences that are near normal; two halves of one repetition independent",
    )
    mean = float(d.mean())
    d = d / (np.abs(d).max() or 1.0)  # the statistics do not depend on the unit
    spread = float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())
    if are_alike(np.append(d[:, 0] - d[:, 1], 0.0), np.abs(d).max()):
        spread = np.inf  # unknown, not 0
        assumptions += (NO_SPREAD,) if d.any() else ()
    degrees: tuple[float, ...]
    if kind == "F":
        statistic = float((d**2).sum() / (2 * spread))
        degrees, p = (10.0, 5.0), float(stats.f.sf(statistic, 10, 5))
    else:
        statistic = float(d[0, 0] / np.sqrt(spread / 5))
        degrees, p = (5.0,), float(2 * stats.t.sf(abs(statistic), 5))
    return HypothesisTest(
        name=f"5×2 cross-validation {kind} test",
        hypothesis=NO_DIFFERENCE,
        statistic=statistic,
        degrees_of_freedom=degrees,
        p=p,
        significance=significance,
        assumptions=assumptions,
        effect_size=_in_units_of(np.sqrt(spread / 5), float(d.mean())),
        details={"mean_difference": mean},
    )


def mcnemar(
    right_a: Any, right_b: Any, *, exact: bool | None = None, significance: float = 0.05
) -> HypothesisTest:
    """Test whether two classifiers make equally many errors on the same rows (McNemar's test).

    Formula: only rows that exactly one classifier predicts correctly count: b by the first, c by
    the second. The exact test uses min(b, c) ~ Binomial(b + c, ½); the other uses
    χ² = (|b − c| − 1)²/(b + c) with 1 degree of freedom. Cost: O(n).

    Parameters
    ----------
    right_a, right_b : array-like of bool, shape (n,)
        Whether each classifier predicts each row correctly.
    exact : bool, optional
        Whether to use the exact test. By default it is used if b + c < 1000.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest
        With an interval for the difference of the accuracies (Wald's, with half a row added to each
        of the four counts; Agresti and Min). It is not the inverse of the exact test, which is
        conservative: where few rows differ, it may exclude 0 although p is not significant.
        `compare` gives the score interval, which agrees with its p-value. The effect size
        (b − c)/(b + c), from −1 to 1, shows how one-sided the disagreements are;
        ``details["odds_ratio"]`` is b/c.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> a, b = np.repeat([1, 1, 0], [80, 15, 5]), np.repeat([1, 0, 1], [80, 15, 5])
    >>> round(th.statistics.mcnemar(a, b).p, 4)
    0.0414
    """
    from scipy import stats

    require_level(significance, "significance")
    first, second = pair_of_samples(right_a, right_b, at_least=1)
    if not (np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all()):
        raise DataError(
            "mcnemar: give True for rows that are predicted correctly and False for the others."
        )
    n = first.size
    only_a, only_b = int((first > second).sum()), int((second > first).sum())
    apart = only_a + only_b
    exact = apart < 1000 if exact is None else exact
    degrees: tuple[float, ...]
    if exact:
        statistic, degrees = float(min(only_a, only_b)), ()
        p = min(1.0, 2 * float(stats.binom.cdf(statistic, apart, 0.5))) if apart else 1.0
    else:
        statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / apart if apart else 0.0
        degrees, p = (1.0,), float(stats.chi2.sf(statistic, 1))
    gap = (only_a - only_b) / n
    centre = (only_a - only_b) / (n + 2)
    half = float(stats.norm.isf(significance / 2) * np.sqrt(variance_of_gap(only_a, only_b, n)))
    low, high = max(-1.0, min(gap, centre - half)), min(1.0, max(gap, centre + half))
    return HypothesisTest(
        name="McNemar's test" + (", exact" if exact else ""),
        hypothesis=NO_DIFFERENCE,
        statistic=float(statistic),
        degrees_of_freedom=degrees,
        p=p,
        significance=significance,
        assumptions=("independent rows; the two fitted models are fixed",),
        interval=Interval(gap, low, high, 1 - significance, "Agresti-Min"),
        effect_size=(only_a - only_b) / apart if apart else 0.0,
        details={
            "only_a_right": only_a,
            "only_b_right": only_b,
            "odds_ratio": only_a / only_b if only_b else np.inf if only_a else 1.0,
        },
    )


def variance_of_gap(only_a: int, only_b: int, n: int) -> float:
    """Variance of (b − c)/n, the difference of two accuracies; never 0 (Agresti and Min)."""
    return (only_a + only_b + 1 - (only_a - only_b) ** 2 / (n + 2)) / (n + 2) ** 2


def _t_of_differences(
    a: Array,
    b: Array,
    share: float,
    name: str,
    assumptions: tuple[str, ...],
    significance: float,
    least_spread: float,
) -> HypothesisTest:
    from scipy.special import stdtr, stdtrit

    require_level(significance, "significance")
    d = a - b
    mean, spread = float(d.mean()), standard_deviation(d)
    if are_alike(d, max(np.abs(a).max(), np.abs(b).max())):
        # Identical scores everywhere mean identical models; equal non-zero differences do not.
        spread = least_spread or (np.inf if d.any() else 0.0)
        note = f"all differences are the same; their spread is taken as {spread:.3g}"
        assumptions += (note if np.isfinite(spread) else NO_SPREAD,)
    error = spread * np.sqrt(share)
    statistic = mean / error if mean else 0.0
    degrees = d.size - 1
    half = float(-stdtrit(degrees, significance / 2) * error)
    return HypothesisTest(
        name=name,
        hypothesis=NO_DIFFERENCE,
        statistic=float(statistic),
        degrees_of_freedom=(float(degrees),),
        p=float(2 * stdtr(degrees, -abs(statistic))),
        significance=significance,
        assumptions=assumptions,
        interval=Interval(mean, mean - half, mean + half, 1 - significance, name),
        effect_size=_in_units_of(spread, mean),
    )


def _in_units_of(spread: float, mean: float) -> float | None:
    """The effect size; None if the spread is unknown."""
    if not mean:
        return 0.0
    return float(mean / spread) if np.isfinite(spread) else None
