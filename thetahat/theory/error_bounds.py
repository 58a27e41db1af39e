"""Upper bounds of the true error that hold with probability 1 − δ."""

from __future__ import annotations

from math import log, log1p, pi, sqrt

from thetahat.foundation.errors import ParameterError
from thetahat.theory.requirements import probability, whole

MOST_TERMS = 10**6
"""Most binomials that are summed one by one."""


def true_error_bound(errors: int, n: int, *, failure: float = 0.05) -> float:
    """An upper bound of the true error, from k errors on n fresh rows.

    Formula: max{p : P(Binomial(n, p) ≤ k) ≥ δ}, by inverting the binomial tail. This is the
    tightest bound from errors on a test set. Cost: O(1).

    Parameters
    ----------
    errors : int
        The number of errors on rows that were not used for the fit (k).
    n : int
        The number of these rows.
    failure : float, default=0.05
        The accepted probability that the bound is wrong (δ), between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.true_error_bound(0, 59), 4), round(th.theory.true_error_bound(10, 100), 4)
    (0.0495, 0.1637)
    """
    from scipy.stats import beta

    whole(n, "n", "true_error_bound", low=1)
    whole(errors, "errors", "true_error_bound", low=0)
    if errors > n:
        raise ParameterError(f"true_error_bound: errors={errors} must be at most n={n}.")
    probability(failure, "failure", "true_error_bound")
    return 1.0 if errors == n else float(beta.isf(failure, errors + 1, n - errors))


def vc_bound(vc_dimension: int, n: int, *, failure: float = 0.05) -> float:
    """A bound of the gap between training and true error, for all hypotheses of a VC class.

    Formula: √(8·(log Π(2n) + log(4/δ))/n), with Π(m) ≤ (e·m/v)^v ways to label m rows (Sauer).
    Capped at 1, where the bound is trivial. Cost: O(1).

    Parameters
    ----------
    vc_dimension : int
        The VC dimension of the class (v); see `vc_dimension`.
    n : int
        The number of training rows.
    failure : float, default=0.05
        The accepted probability that the bound is wrong (δ), between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.vc_bound(3, 100_000), 4)
    0.056
    """
    whole(vc_dimension, "vc_dimension", "vc_bound", low=1)
    whole(n, "n", "vc_bound", low=1)
    probability(failure, "failure", "vc_bound")
    return min(1.0, sqrt(8 * (log_growth(vc_dimension, 2 * n) + log(4 / failure)) / n))


def log_growth(vc_dimension: int, n: int) -> float:
    """The logarithm of Sauer's bound on the number of ways a VC class can label n rows.

    Formula: log Σ_{i ≤ v} (n choose i): n·log 2 while n ≤ v, then polynomial in n. A binomial is
    the product of (n − j + 1)/j, so that no large logarithms cancel. For v > 10⁶,
    Stirling's formula gives it with a relative error below 1e-8. Cost: O(v), and O(1) for v > 10⁶.

    Parameters
    ----------
    vc_dimension : int
        The VC dimension of the class (v).
    n : int
        The number of rows to label.

    Returns
    -------
    float

    Examples
    --------
    >>> import math
    >>> import thetahat as th
    >>> round(math.exp(th.theory.log_growth(2, 4)), 6)
    11.0
    """
    import numpy as np

    whole(vc_dimension, "vc_dimension", "log_growth", low=0)
    whole(n, "n", "log_growth", low=0)
    if n <= vc_dimension:
        return n * log(2)
    if vc_dimension > MOST_TERMS:
        return _log_sum_of_binomials(int(vc_dimension), int(n))
    j = np.arange(1.0, vc_dimension + 1)
    terms = np.concatenate([[0.0], np.cumsum(np.log(float(n) - j + 1) - np.log(j))])
    return float(np.logaddexp.reduce(terms))


def _log_sum_of_binomials(v: int, n: int) -> float:
    """log Σ_{i ≤ v} (n choose i) for large v < n."""
    from scipy.special import log_ndtr

    z = (2 * v + 1 - n) / sqrt(n)
    if z > -10:  # the binomial distribution with p = 1/2 is nearly normal
        return n * log(2) + float(log_ndtr(z))
    # The last binomial, and a geometric series with the ratio of the last two.
    last = v * log(n / v) - (n - v) * log1p(-v / n) + 0.5 * log(n / (2 * pi * v) / (n - v))
    return last - log((n - 2 * v + 1) / (n - v + 1))


def cover_hart(bayes_error: float, *, classes: int = 2) -> float:
    """An upper bound of the nearest neighbour's error as the number of rows grows to infinity.

    Formula: p*·(2 − C/(C − 1)·p*), at most twice the Bayes error p*. Cost: O(1).

    Parameters
    ----------
    bayes_error : float
        The error of the best possible classifier (p*), at most 1 − 1/C.
    classes : int, default=2
        The number of classes (C), at least 2.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.cover_hart(0.25)
    0.375
    """
    whole(classes, "classes", "cover_hart", low=2)
    probability(bayes_error, "bayes_error", "cover_hart", closed=True)
    most = 1 - 1 / classes
    if bayes_error > most * (1 + 1e-12):  # allow for the rounding of 1 − 1/C
        raise ParameterError(
            f"cover_hart: bayes_error={bayes_error!r} must be at most 1 − 1/C = {most:.6g} with "
            f"{classes} classes, the error of random guessing. Give the error of the best "
            "classifier."
        )
    return bayes_error * (2 - classes / (classes - 1) * bayes_error)
