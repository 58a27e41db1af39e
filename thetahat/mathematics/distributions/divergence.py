"""Kullback-Leibler divergence, cross-entropy and Jensen's inequality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution, expectation
from thetahat.mathematics.distributions.beta import Beta
from thetahat.mathematics.distributions.categorical import Categorical
from thetahat.mathematics.distributions.gamma import Gamma, GammaLike
from thetahat.mathematics.distributions.integration import values_of
from thetahat.mathematics.distributions.uniform import Uniform


def kl(q: Any, p: Any) -> float:
    """Compute the Kullback-Leibler divergence of p from q.

    Formula: KL(q‖p) = E_q[log q(X) − log p(X)] in nats. It is at least 0, is 0 only if both are
    equal, is not symmetric, and is infinite if q has values that are impossible under p. The
    distribution of a family with the smallest divergence from the empirical one is the one of
    maximum likelihood. Exponential and chi-squared distributions count as Gamma, and Uniform(0, 1)
    as Beta. Cost: O(1) for two distributions of one family; otherwise a sum over whole numbers, or
    a numerical integral, whose error is at most about 1e-6 of E_q|log q(X) − log p(X)|.

    Parameters
    ----------
    q : Distribution or array-like of shape (K,)
        The distribution of the values, or a table of probabilities.
    p : Distribution or array-like of shape (K,)
        The distribution that is compared with it, or a table of probabilities.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> coin, biased = th.distributions.Bernoulli(0.5), th.distributions.Bernoulli(0.9)
    >>> round(th.distributions.kl(coin, biased), 6), round(th.distributions.kl(biased, coin), 6)
    (0.510826, 0.368064)
    >>> round(th.distributions.kl([0.5, 0.5], [0.1, 0.9]), 6)
    0.510826
    """
    q, p = _distribution(q, "q"), _distribution(p, "p")
    q, p = _of_one_family(q, p)
    if type(q) is type(p) and hasattr(q, "_divergence"):
        # Formulas for equal distributions may round to a tiny negative number.
        return max(float(q._divergence(p)), 0.0)
    if not isinstance(q, Distribution) or not isinstance(p, Distribution):
        raise ParameterError(
            f"kl: there is no divergence between {type(q).__name__} and {type(p).__name__}. Give "
            "two distributions of one number, or two of one family."
        )
    if q.discrete != p.discrete:
        kinds = {True: "discrete", False: "continuous"}
        raise ParameterError(
            f"kl: q is {kinds[q.discrete]} and p is {kinds[p.discrete]}, but both must be of one "
            "kind. Compare a histogram of the continuous one."
        )
    if _impossible(q, p):
        return float(np.inf)
    return max(expectation(q, lambda x: q.log_density(x) - p.log_density(x)), 0.0)


def cross_entropy(q: Any, p: Any) -> float:
    """Compute the cross-entropy of p under q.

    Formula: H(q, p) = −E_q log p(X) = H(q) + KL(q‖p) in nats. For the empirical distribution q of a
    sample it is the mean negative log-likelihood of p. Cost: that of `kl`.

    Parameters
    ----------
    q : Distribution or array-like of shape (K,)
        The distribution of the values, or a table of probabilities.
    p : Distribution or array-like of shape (K,)
        The distribution whose code lengths −log p are averaged, or a table of probabilities.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> coin = th.distributions.Bernoulli(0.5)
    >>> round(th.distributions.cross_entropy(coin, coin), 6) == round(coin.entropy, 6)
    True
    """
    q, p = _distribution(q, "q"), _distribution(p, "p")
    return float(q.entropy) + kl(q, p)


def jensen_gap(function: Callable[[Array], Array], distribution: Any) -> float:
    """Compute E f(X) − f(E X), which is at least 0 for a convex f (Jensen's inequality).

    Formula: f(E X) ≤ E f(X) for convex f; a negative gap shows that f is not convex. Cost: one
    expectation.

    Parameters
    ----------
    function : callable
        The function f, which is given an array of values and returns an array.
    distribution : Distribution or array-like of shape (K,)
        The distribution of X, or a table of the probabilities of 0, …, K − 1.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.distributions.jensen_gap(lambda x: x**2, th.distributions.Normal(3, 2)), 6)
    4.0
    """
    law = _distribution(distribution, "distribution")
    if not isinstance(law, Distribution) or not np.isfinite(law.mean):
        raise ParameterError(
            f"jensen_gap: {distribution!r} has no finite mean, which the gap needs. Use a "
            "distribution of one number with lighter tails."
        )
    centre = float(values_of(law, function, np.asarray([law.mean]))[0])
    return expectation(law, function) - centre


def _distribution(given: Any, role: str) -> Any:
    if isinstance(given, type):
        raise ParameterError(
            f"{role}={given.__name__} is a class. Pass a value: {given.__name__}(...)."
        )
    if hasattr(given, "log_density"):
        return given
    return Categorical(given)


def _of_one_family(q: Any, p: Any) -> tuple[Any, Any]:
    """Special cases of one family as members of it, so that its formula applies."""
    if type(q) is type(p):
        return q, p
    if isinstance(q, GammaLike) and isinstance(p, GammaLike):
        return Gamma(*q._shape_and_rate()), Gamma(*p._shape_and_rate())
    if {type(q), type(p)} == {Beta, Uniform} and Uniform(0.0, 1.0) in (q, p):
        q, p = (each if isinstance(each, Beta) else Beta(1.0, 1.0) for each in (q, p))
    return q, p


def _impossible(q: Distribution, p: Distribution) -> bool:
    """Whether q has values outside the support of p."""
    (a, b), (c, d) = q.support, p.support
    if q.discrete and np.isfinite([a, b]).all():
        x = np.arange(a, b + 1)
        return bool(((q.density(x) > 0) & (p.log_density(x) == -np.inf)).any())
    return bool(a < c or b > d)
