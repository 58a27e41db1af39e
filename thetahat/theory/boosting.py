"""Boosting of weak learners: number of rounds, training error, and sample size.

A weak learner has an error of at most ½ − γ for any weights of the rows; γ is its edge. With the
factor β = (½ − γ)/(½ + γ) for correct rows, a round multiplies the total weight by at most 1 − 2γ,
and a row that half of the learners get wrong still has the weight β^{T/2}. So after T rounds the
training error of the majority vote is at most

    (1 − 2γ)^T / β^{T/2} = (1 − 4γ²)^{T/2} ≤ e^{−2Tγ²},

and T = log(1/ε)/(2γ²) rounds reduce it to ε.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, log1p

from thetahat.foundation.errors import ParameterError
from thetahat.theory import requirements
from thetahat.theory.requirements import positive, probability, whole
from thetahat.theory.sample_size import least_whole


def boosting_factor(edge: float) -> float:
    """The factor by which boosting reduces the weight of a row that was predicted correctly.

    Formula: β = (½ − γ)/(½ + γ); α = log(1/β) is the vote of a learner with error ½ − γ. Cost:
    O(1).

    Parameters
    ----------
    edge : float
        The advantage of a weak learner over random guessing (γ), between 0 and ½.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.boosting_factor(0.1), 6)
    0.666667
    """
    _edge(edge, "boosting_factor")
    return (0.5 - edge) / (0.5 + edge)


def boosting_error_bound(edge: float, rounds: int) -> float:
    """An upper bound of the training error of T boosted weak learners.

    Formula: (1 − 4γ²)^{T/2} ≤ e^{−2Tγ²}. Cost: O(1).

    Parameters
    ----------
    edge : float
        The advantage of a weak learner over random guessing (γ), between 0 and ½.
    rounds : int
        The number of boosting rounds (T).

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.boosting_error_bound(0.1, 100), 4)
    0.1299
    """
    _edge(edge, "boosting_error_bound")
    whole(rounds, "rounds", "boosting_error_bound", low=0)
    return exp(rounds / 2 * log1p(-4 * edge**2))


def boosting_rounds(edge: float, error: float) -> int:
    """The number of boosting rounds after which the training error is at most ε.

    Formula: T = ⌈log(1/ε)/(2γ²)⌉, from e^{−2Tγ²} ≤ ε. Cost: O(1).

    Parameters
    ----------
    edge : float
        The advantage of a weak learner over random guessing (γ), between 0 and ½.
    error : float
        The accepted training error (ε), between 0 and 1. Below 1/n no row may be wrong.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.boosting_rounds(edge=0.01, error=0.01)
    23026
    """
    _edge(edge, "boosting_rounds")
    probability(error, "error", "boosting_rounds")
    return _rounds(edge, -log(error))


def boosting_sample_size(class_size: float, edge: float, error: float, failure: float) -> int:
    """The number of rows after which boosting to zero training error has a small true error.

    Formula: the least m ≥ (T·log|H| + log(1/δ))/ε with T = ⌈log(2m)/(2γ²)⌉ rounds, which leave no
    error on m rows. The majority vote of T weak hypotheses of a class H is one of |H|^T, so the
    number of rows must exceed the size of the whole classifier, T·log|H|, by a factor of 1/ε.
    Cost: O(log m).

    Parameters
    ----------
    class_size : float
        The number of weak hypotheses (|H|), at least 1. Whole numbers may be arbitrarily large.
    edge : float
        The advantage of a weak learner over random guessing (γ), between 0 and ½.
    error : float
        The accepted true error (ε), between 0 and 1.
    failure : float
        The accepted probability of failure (δ), between 0 and 1.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.boosting_sample_size(1024, edge=0.25, error=0.1, failure=0.05)
    5160
    """
    _edge(edge, "boosting_sample_size")
    requirements.class_size(class_size, "boosting_sample_size")
    probability(error, "error", "boosting_sample_size")
    probability(failure, "failure", "boosting_sample_size")
    rows, needed = 0, 1
    # The right side grows only with log m, so the iteration converges.
    while needed > rows:
        rows = needed
        size = _rounds(edge, log(2 * rows)) * Fraction(log(class_size))
        needed = least_whole(size - Fraction(log(failure)), error)
    return rows


def _rounds(edge: float, log_of_inverse_error: float) -> int:
    return least_whole(log_of_inverse_error, 2, edge, edge)


def _edge(edge: float, who: str) -> None:
    positive(edge, "edge", who)
    if not edge < 0.5:
        raise ParameterError(
            f"{who}: edge={edge!r} must lie strictly between 0 and ½. It is the advantage over "
            "random guessing."
        )
