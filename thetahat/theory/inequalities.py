"""Bounds of how far a random variable deviates from its mean, for any distribution.

    Markov            P(X ≥ k·E X) ≤ 1/k                     X ≥ 0
    Chebyshev         P(|X − μ| > t·σ) ≤ 1/t²
    Hoeffding         P(|S − np| > δn) ≤ 2·e^{−2nδ²}         S a sum of n independent in [0, 1]
    union bound       P(A₁ ∪ … ∪ A_k) ≤ Σ P(A_i)

Each bound is capped at 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, fsum
from numbers import Real

from thetahat.foundation.errors import ParameterError
from thetahat.theory.requirements import positive, probability, whole


def markov(multiple: float) -> float:
    """Markov's bound on P(X ≥ k·E X) for X ≥ 0.

    Formula: 1/k. Cost: O(1).

    Parameters
    ----------
    multiple : float
        The multiple of the mean (k), positive.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.markov(4.0)
    0.25
    """
    positive(multiple, "multiple", "markov")
    return min(1.0, 1.0 / multiple)


def chebyshev(deviations: float) -> float:
    """Chebyshev's bound on P(|X − μ| > t·σ), where σ is the standard deviation.

    Formula: 1/t². Cost: O(1).

    Parameters
    ----------
    deviations : float
        The deviation from the mean in standard deviations (t), positive.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.chebyshev(2.0)
    0.25
    """
    positive(deviations, "deviations", "chebyshev")
    return 1.0 if deviations <= 1 else (1.0 / deviations) ** 2


def hoeffding(n: int, deviation: float, *, two_sided: bool = True) -> float:
    """Hoeffding's bound (Chernoff's additive bound) on the mean of n independent values in [0, 1].

    Formula: P(|S/n − p| > δ) ≤ 2·e^{−2nδ²}; half of it for one side. Cost: O(1).

    Parameters
    ----------
    n : int
        The number of independent values.
    deviation : float
        The deviation of the mean from its expectation (δ), positive.
    two_sided : bool, default=True
        Whether deviations in both directions count.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.hoeffding(100, 0.1), 6)
    0.270671
    """
    whole(n, "n", "hoeffding", low=1)
    positive(deviation, "deviation", "hoeffding")
    # Products, as a power would raise OverflowError instead of giving infinity.
    exponent = -2.0 * n * float(deviation) * float(deviation)
    return min(1.0, (2.0 if two_sided else 1.0) * exp(exponent))


def union_bound(probabilities: float | Iterable[float], events: int | None = None) -> float:
    """The union bound: the probability of at least one event is at most the sum of theirs.

    Formula: P(∪ A_i) ≤ Σ P(A_i). Cost: O(events).

    Parameters
    ----------
    probabilities : float or iterable of float
        The probability of each event, or one probability for all of them.
    events : int, optional
        The number of events, if one probability is given for all of them.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.union_bound(0.001, events=20), 6)
    0.02
    """
    if isinstance(probabilities, Real) or getattr(probabilities, "ndim", None) == 0:
        alike = float(probabilities)  # type: ignore[arg-type]
        probability(alike, "probabilities", "union_bound", closed=True)
        whole(1 if events is None else events, "events", "union_bound", low=1)
        return min(1.0, alike * (1 if events is None else events))
    if events is not None:
        raise ParameterError(
            f"union_bound: events={events!r} needs a single probability, but probabilities has one "
            "for each event. Leave events out."
        )
    each = list(probabilities)  # type: ignore[arg-type]
    for one in each:
        probability(one, "probabilities", "union_bound", closed=True)
    return min(1.0, fsum(each))
