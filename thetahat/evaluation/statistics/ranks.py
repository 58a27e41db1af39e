"""Rank tests: for scores of any distribution, and for many models on many data sets."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import HypothesisTest, pair_of_samples
from thetahat.evaluation.statistics.paired import NO_DIFFERENCE
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def wilcoxon(a: Any, b: Any, *, significance: float = 0.05) -> HypothesisTest:
    """Wilcoxon's signed-rank test of two models' scores on k independent test sets.

    Formula: W = the smaller of the rank sums of |d| over d > 0 and over d < 0. The effect size is
    the rank-biserial correlation (W₊ − W₋)/(W₊ + W₋). Cost: O(k log k).

    Parameters
    ----------
    a, b : array-like of shape (k,)
        Scores of the two models on the same test sets.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import thetahat as th
    >>> a, b = [0.8, 0.82, 0.79, 0.85, 0.9, 0.7], [0.75, 0.78, 0.76, 0.79, 0.88, 0.69]
    >>> round(th.statistics.wilcoxon(a, b).p, 5)
    0.03125
    """
    from scipy import stats

    require_level(significance, "significance")
    first, second = pair_of_samples(a, b)
    d = first - second
    d = d[d != 0]
    if not d.size:
        statistic, p, effect = 0.0, 1.0, 0.0
    else:
        found = stats.wilcoxon(d)
        statistic, p = float(found.statistic), float(found.pvalue)
        ranks = stats.rankdata(np.abs(d))
        effect = float((ranks * np.sign(d)).sum() / ranks.sum())
    return HypothesisTest(
        name="Wilcoxon's signed-rank test",
        hypothesis=NO_DIFFERENCE,
        statistic=statistic,
        degrees_of_freedom=(),
        p=p,
        significance=significance,
        assumptions=("independent differences, symmetric about their median",),
        effect_size=effect,
        details={"n_used": int(d.size)},
    )


def friedman(scores: Any, *, significance: float = 0.05) -> HypothesisTest:
    """Friedman's test that k models are equally good on n data sets or folds.

    Formula: χ² = 12n/(k(k+1))·Σ R̄ⱼ² − 3n(k+1), corrected for ties, with k − 1 degrees of freedom;
    R̄ⱼ is the mean rank of model j, where rank 1 is the best. Cost: O(n k log k).

    Parameters
    ----------
    scores : array-like of shape (n, k)
        Scores, one row per data set and one column per model. Greater values must be better.
    significance : float, default=0.05
        Significance level. The hypothesis is rejected if p is below it.

    Returns
    -------
    HypothesisTest
        ``details["mean_ranks"]`` holds the mean ranks (R̄).

    Examples
    --------
    >>> import thetahat as th
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.95, 0.9, 0.8], [0.7, 0.65, 0.6]]
    >>> test = th.statistics.friedman(scores)
    >>> round(test.p, 4), test.details["mean_ranks"].tolist()
    (0.0183, [1.0, 2.0, 3.0])
    """
    from scipy import stats

    require_level(significance, "significance")
    table = _scores(scores, at_least=3)
    ranks = stats.rankdata(-table, axis=1)
    n, k = table.shape
    between = n * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum()
    within = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))
    statistic = float(between / within) if within else 0.0
    return HypothesisTest(
        name="Friedman's test",
        hypothesis="all are equally good",
        statistic=statistic,
        degrees_of_freedom=(float(k - 1),),
        p=float(stats.chi2.sf(statistic, k - 1)),
        significance=significance,
        assumptions=("independent rows", "n large enough for χ² (n > 10 and k > 5 are safe)"),
        details={"mean_ranks": ranks.mean(axis=0)},
    )


def nemenyi(scores: Any, *, significance: float = 0.05) -> HypothesisTest:
    """Nemenyi's test of all pairs of k models on n data sets, used after Friedman's test.

    Formula: two models differ if their mean ranks differ by more than q·√(k(k+1)/(6n)), where q is
    the quantile of the studentised range divided by √2. Cost: O(n k log k + k²).

    Parameters
    ----------
    scores : array-like of shape (n, k)
        Scores, one row per data set and one column per model. Greater values must be better.
    significance : float, default=0.05
        Significance level for all pairs together: the probability of at least one false rejection.

    Returns
    -------
    HypothesisTest
        ``details`` holds "mean_ranks", "critical_difference", and "p", the (k, k) matrix of
        p-values of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> scores = np.array([[0.9, 0.8, 0.7]]) + np.linspace(0, 0.05, 12)[:, None]
    >>> test = th.statistics.nemenyi(scores)
    >>> round(test.details["critical_difference"], 4)
    0.9568
    """
    from scipy import stats

    require_level(significance, "significance")
    table = _scores(scores, at_least=2)
    n, k = table.shape
    means = stats.rankdata(-table, axis=1).mean(axis=0)
    unit = np.sqrt(k * (k + 1) / (6.0 * n))
    law = stats.studentized_range(k, np.inf)
    p = np.ones((k, k))
    for i, j in combinations(range(k), 2):
        p[i, j] = p[j, i] = float(law.sf(abs(means[i] - means[j]) / unit * np.sqrt(2)))
    apart = float(means.max() - means.min())
    return HypothesisTest(
        name="Nemenyi's test",
        hypothesis="no two differ",
        statistic=apart / unit,
        degrees_of_freedom=(float(k),),
        p=float(p.min()),
        significance=significance,
        assumptions=("independent rows",),
        details={
            "mean_ranks": means,
            "critical_difference": float(law.isf(significance) / np.sqrt(2) * unit),
            "p": p,
        },
    )


def _scores(scores: Any, at_least: int) -> Array:
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < at_least:
        raise DataError(
            f"scores has shape {table.shape}. Give one row per data set (at least 2) and one "
            f"column per model (at least {at_least})."
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise DataError(
            f"scores[{row}, {column}] is {table[row, column]}; every score must be finite."
        )
    return table
