"""Sufficient numbers of rows or runs, for given error and probability of failure.

finite class C      Pr[bad] ≤ |C|(1 − ε)^m ≤ |C|·e^{−εm}    m ≥ log(|C|/δ)/ε
rectangle           Pr[bad] ≤ 4(1 − ε/4)^m                   m ≥ (4/ε)·log(4/δ)
hold-out            P(|error − true| > ε) ≤ 2k·e^{−2nε²}     n ≥ log(2k/δ)/(2ε²)
repetition          (1 − p)^t ≤ δ                            t ≥ log δ/log(1 − p)
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, log, log1p
from sys import float_info

from thetahat.theory import requirements
from thetahat.theory.requirements import probability, whole


def pac_sample_size(class_size: float, error: float, failure: float) -> int:
    """The number of rows after which every consistent hypothesis of a finite class is good.

    Formula: m = ⌈log(|C|/δ)/ε⌉. From this many rows on, with probability at least 1 − δ, every
    hypothesis of C that fits all rows has a true error of at most ε. Cost: O(1).

    Parameters
    ----------
    class_size : float
        The number of hypotheses (|C|), at least 1. Whole numbers may be arbitrarily large, such as
        the 3ⁿ conjunctions of n variables.
    error : float
        The accepted true error (ε), between 0 and 1. Smaller values need more rows.
    failure : float
        The accepted probability of failure (δ), between 0 and 1.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.pac_sample_size(1024, error=0.1, failure=0.05)
    100
    >>> th.theory.pac_sample_size(3**1000, error=0.1, failure=0.05)
    11017
    """
    _error_and_failure(error, failure, "pac_sample_size")
    requirements.class_size(class_size, "pac_sample_size")
    return least_whole(log(class_size) - log(failure), error)


def pac_failure(class_size: float, error: float, n: int) -> float:
    """A bound of the probability that some hypothesis with a true error above ε fits n rows.

    Formula: |C|(1 − ε)ⁿ. Cost: O(1).

    Parameters
    ----------
    class_size : float
        The number of hypotheses (|C|), at least 1. Whole numbers may be arbitrarily large, such as
        the 3ⁿ conjunctions of n variables.
    error : float
        The accepted true error (ε), between 0 and 1.
    n : int
        The number of training rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.pac_failure(1024, error=0.1, n=100), 4)
    0.0272
    """
    requirements.class_size(class_size, "pac_failure")
    probability(error, "error", "pac_failure")
    whole(n, "n", "pac_failure", low=0)
    return exp(min(0.0, log(class_size) + n * log1p(-error)))


def rectangle_sample_size(error: float, failure: float, *, dimensions: int = 2) -> int:
    """The number of rows after which the tightest axis-parallel rectangle is good.

    Formula: m = ⌈(2d/ε)·log(2d/δ)⌉ in d dimensions: each of the 2d sides misses a strip of
    probability ε/2d with probability at most e^{−εm/2d}. Cost: O(1).

    Parameters
    ----------
    error : float
        The accepted true error (ε), between 0 and 1. Smaller values need more rows.
    failure : float
        The accepted probability of failure (δ), between 0 and 1.
    dimensions : int, default=2
        The number of dimensions of the rectangle (d).

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.rectangle_sample_size(error=0.1, failure=0.05)
    176
    """
    _error_and_failure(error, failure, "rectangle_sample_size")
    whole(dimensions, "dimensions", "rectangle_sample_size", low=1)
    sides = 2 * dimensions
    return least_whole(sides * (log(sides) - log(failure)), error)


def holdout_size(error: float, failure: float, *, models: int = 1) -> int:
    """The number of hold-out rows that estimates the errors of k models to within ε.

    Formula: n = ⌈log(2k/δ)/(2ε²)⌉; each of the k models has the failure probability δ/k. Cost:
    O(1).

    Parameters
    ----------
    error : float
        The accepted deviation of the measured from the true error (ε), between 0 and 1.
    failure : float
        The accepted probability of failure (δ), between 0 and 1.
    models : int, default=1
        The number of models that are tested on the same rows (k).

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.holdout_size(error=0.1, failure=0.05)
    185
    """
    _error_and_failure(error, failure, "holdout_size")
    whole(models, "models", "holdout_size", low=1)
    return least_whole(log(2 * models) - log(failure), 2, error, error)


def amplification_rounds(success: float, failure: float) -> int:
    """The number of runs after which a learner has succeeded at least once with high probability.

    Formula: t = ⌈log δ / log(1 − p)⌉, the smallest t with (1 − p)^t ≤ δ. Cost: O(1).

    Parameters
    ----------
    success : float
        The probability that one run succeeds (p), between 0 and 1.
    failure : float
        The accepted probability that no run succeeds (δ), between 0 and 1.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.amplification_rounds(0.05, 0.05), th.theory.amplification_rounds(0.05, 0.01)
    (59, 90)
    """
    probability(success, "success", "amplification_rounds")
    probability(failure, "failure", "amplification_rounds")
    ratio = Fraction(log(failure)) / Fraction(log1p(-success))
    nearest = round(ratio)
    # If the exact ratio is whole, the logarithms may be off in the last digits: use the power.
    doubt = 4 * Fraction(float_info.epsilon) * ratio
    if doubt < 1 and abs(ratio - nearest) <= doubt:
        return nearest if (1 - success) ** nearest <= failure else nearest + 1
    return ceil(ratio)


def least_whole(numerator: float | Fraction, *denominators: float) -> int:
    """⌈numerator / (the product of the denominators)⌉, also for very large whole numbers."""
    ratio = Fraction(numerator)
    for each in denominators:
        ratio /= Fraction(float(each))
    return ceil(ratio)


def _error_and_failure(error: float, failure: float, who: str) -> None:
    probability(error, "error", who)
    probability(failure, "failure", who)
