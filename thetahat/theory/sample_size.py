"""How many rows are enough: for a consistent learner, a rectangle, a hold-out set, a retry.

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
    """Rows after which every consistent hypothesis of a finite class is probably good.

    Formula: m = ⌈log(|C|/δ)/ε⌉. With so many rows, with probability at least 1 − δ, every
    hypothesis of C that fits them all has true error at most ε. Cost: O(1).

    Parameters
    ----------
    class_size : float
        |C| ≥ 1; a whole number of any length, as the 3ⁿ conjunctions of n variables.
    error : float
        ε, the true error allowed.
    failure : float
        δ, the probability with which it may go wrong.

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
    """The probability that some hypothesis of error above ε fits n rows.

    Formula: |C|(1 − ε)ⁿ. Cost: O(1).

    Parameters
    ----------
    class_size : float
        |C| ≥ 1; a whole number of any length, as the 3ⁿ conjunctions of n variables.
    error : float
        ε.
    n : int
        Rows.

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
    """Rows after which the tightest axis-parallel rectangle is probably good.

    Formula: m = ⌈(2d/ε)·log(2d/δ)⌉ in d dimensions: each of the 2d sides misses a strip of
    probability ε/2d with probability at most e^{−εm/2d}. Cost: O(1).

    Parameters
    ----------
    error : float
        ε.
    failure : float
        δ.
    dimensions : int, default=2
        d.

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
    """Rows of a hold-out set that tell the error of k models to within ε.

    Formula: n = ⌈log(2k/δ)/(2ε²)⌉; each of k models tested gets δ/k. Cost: O(1).

    Parameters
    ----------
    error : float
        ε, how far the measured error may be off.
    failure : float
        δ (the lecture's α).
    models : int, default=1
        k, how many models are tested on the same rows.

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
    """How often to run a learner that succeeds with probability p, so that one run surely does.

    Formula: t = ⌈log δ / log(1 − p)⌉, the smallest t with (1 − p)^t ≤ δ. Cost: O(1).

    Parameters
    ----------
    success : float
        p.
    failure : float
        δ.

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
    # A whole ratio leaves the logarithms with an error in its last digits; the power tells.
    doubt = 4 * Fraction(float_info.epsilon) * ratio
    if doubt < 1 and abs(ratio - nearest) <= doubt:
        return nearest if (1 - success) ** nearest <= failure else nearest + 1
    return ceil(ratio)


def least_whole(numerator: float | Fraction, *denominators: float) -> int:
    """⌈numerator / (the product of the denominators)⌉, whole numbers of any length included."""
    ratio = Fraction(numerator)
    for each in denominators:
        ratio /= Fraction(float(each))
    return ceil(ratio)


def _error_and_failure(error: float, failure: float, who: str) -> None:
    probability(error, "error", who)
    probability(failure, "failure", who)
