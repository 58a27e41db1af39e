"""Interface of distributions of one number: frozen values with a density, a cdf and samples.

A concrete distribution gives the formulas `_log_density`, `_cdf`, `_quantile` and `_draw` for
checked arrays; everything that users call checks its arguments here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.arguments import as_float, numbers, require_level, shown
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.fitting.rows import averages, column
from thetahat.mathematics.distributions.integration import density_expectation, values_of
from thetahat.mathematics.parts import Part

TAIL = 1e-15
"""Probability beyond which sums over a distribution are cut off."""
MOST_TERMS = 10_000_000
"""Largest number of terms of a sum over a discrete distribution."""
LARGEST = 1e308
"""The largest whole number that is searched for a quantile."""
HALVINGS = 1100
"""Enough to find any float64 by bisection."""


class Distribution(Part, ABC):
    """Base class of distributions of one number; concrete ones are frozen dataclasses."""

    discrete: ClassVar[bool] = False
    """Whether the distribution has probabilities of whole numbers instead of a density."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value; either may be infinite."""

    @property
    def mean(self) -> float:
        """The expectation E X; infinity or NaN if there is none."""
        raise NotImplementedError

    @property
    def variance(self) -> float:
        """The variance E (X − E X)²; infinity or NaN if there is none."""
        raise NotImplementedError

    @property
    def standard_deviation(self) -> float:
        """The square root of the variance."""
        return float(np.sqrt(self.variance))

    @property
    @abstractmethod
    def mode(self) -> float:
        """The most probable value; NaN if there is no single one."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """H = −E log p(X) in nats. For densities (differential entropy) it may be negative."""

    def density(self, x: Any) -> Array:
        """Compute the density p(x); for a discrete distribution the probability P(X = x).

        Cost: O(1) per number.

        Parameters
        ----------
        x : array-like
            The values at which to compute it. It is 0 outside the support.

        Returns
        -------
        array of the shape of x
        """
        with np.errstate(over="ignore"):  # a density may be larger than any float64
            return np.exp(self.log_density(x))

    def log_density(self, x: Any) -> Array:
        """Compute log p(x), accurate where p(x) itself would underflow. Cost: O(1) per number.

        Parameters
        ----------
        x : array-like
            The values at which to compute it. It is −∞ outside the support.

        Returns
        -------
        array of the shape of x
        """
        values = numbers(x, "x", type(self).__name__, finite=False)
        low, high = self.support
        inside = (values >= low) & (values <= high) & np.isfinite(values)
        if self.discrete:
            inside &= values == np.floor(values)
        safe = np.where(inside, values, self._inner())
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.where(inside, self._log_density(safe), -np.inf))

    def cdf(self, x: Any) -> Array:
        """Compute the cumulative distribution function P(X ≤ x). Cost: O(1) per number.

        Parameters
        ----------
        x : array-like
            The values at which to compute it, infinity included.

        Returns
        -------
        array of the shape of x
        """
        values = numbers(x, "x", type(self).__name__, finite=False)
        low, high = self.support
        values = np.floor(values) if self.discrete else values
        safe = np.where((values >= low) & (values < high), values, self._inner())
        safe = np.where(np.isfinite(safe), safe, self._inner())
        with np.errstate(over="ignore"):
            found = np.where(values < low, 0.0, np.where(values >= high, 1.0, self._cdf(safe)))
        return np.asarray(np.where(values == -np.inf, 0.0, found))

    def quantile(self, probability: Any) -> Array:
        """Compute the smallest x with P(X ≤ x) ≥ probability. Cost: O(1) per number.

        Parameters
        ----------
        probability : array-like
            Probabilities from 0 to 1, for example 0.5 for the median.

        Returns
        -------
        array of the shape of probability
        """
        given = numbers(probability, "probability", type(self).__name__)
        wrong = (given < 0) | (given > 1)
        if wrong.any():
            raise ParameterError(
                f"{type(self).__name__}.quantile: probability {given[wrong].flat[0]:g} is not from "
                "0 to 1. Give a probability, for example 0.975."
            )
        low, high = self.support
        safe = np.where((given > 0) & (given < 1), given, 0.5)
        with np.errstate(over="ignore"):
            found = np.where(given == 0, low, np.where(given == 1, high, self._quantile(safe)))
        return np.asarray(found)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the central interval that contains X with this probability. Cost: O(1).

        For a posterior it is the credible interval.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the interval, between 0 and 1. A larger one gives a wider interval.

        Returns
        -------
        low, high : float
        """
        require_level(level)
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def sample(self, n: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent values. Cost: O(n).

        Parameters
        ----------
        n : int, default=1
            The number of values to draw. Must not be negative.
        random_state : int, Generator, RandomState or None
            Seed or generator of the draws. The same seed gives the same values.

        Returns
        -------
        array of n values, integers if the distribution is discrete
        """
        require_size(n, type(self).__name__)
        with np.errstate(over="ignore", under="ignore"):
            return self._draw(int(n), generator(random_state))

    def log_likelihood(self, data: Any, sample_weight: Any = None) -> float:
        """Compute Σ wᵢ log p(xᵢ), the log-likelihood of independent values. Cost: O(n).

        The negative log-likelihood is its negative. It is −∞ if a value is impossible.

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed values, or a source of one column.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.

        Returns
        -------
        float
        """
        source = column(data, sample_weight, f"{type(self).__name__}.log_likelihood")
        found = averages(source, self._one_log_density)
        return found.weight * float(found.mean[0])

    def expectation(self, function: Callable[[Array], Array]) -> float:
        """Compute E f(X) by a sum, or by adaptive numerical integration.

        The integral resolves poles of the density at finite ends and heavy tails. It usually has
        ten correct digits. An error is raised if its estimated error is more than 1e-6 of
        E |f(X)|, if the density does not integrate to 1, or if the expectation does not exist; an
        expectation that is infinite in one direction is returned as infinity. Cost: some thousand
        values of f.

        Parameters
        ----------
        function : callable
            The function f, which is given an array of values and returns an array.

        Returns
        -------
        float

        Examples
        --------
        >>> import numpy as np
        >>> import thetahat as th
        >>> round(th.distributions.Gamma(2, 1).expectation(np.log), 6)
        0.422784
        """
        return expectation(self, function)

    def _one_log_density(self, x: Array) -> Array:
        return self.log_density(x)[None]

    def _inner(self) -> float:
        """A value inside the support, where formulas are evaluated in place of others."""
        low, high = self.support
        if np.isfinite(low) and np.isfinite(high):
            return high if self.discrete else low / 2 + high / 2
        return low + 1.0 if np.isfinite(low) else high - 1.0 if np.isfinite(high) else 0.0

    @abstractmethod
    def _log_density(self, x: Array) -> Array:
        """log p(x) inside the support."""

    @abstractmethod
    def _cdf(self, x: Array) -> Array:
        """P(X ≤ x) inside the support."""

    @abstractmethod
    def _quantile(self, probability: Array) -> Array:
        """The quantiles of probabilities strictly between 0 and 1."""

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        """n values; by default the quantiles of uniform numbers."""
        return self._quantile(random.random(n))


def expectation(distribution: Distribution, function: Callable[[Array], Array]) -> float:
    """E f(X): a sum over whole numbers, or an adaptive integral."""
    low, high = distribution.support
    if distribution.discrete:
        first, last = distribution.quantile([TAIL, 1 - TAIL]) + np.array([-50, 50])
        first, last = max(float(first), low), min(float(last), high)
        if np.isinf(first) or not last - first <= MOST_TERMS:
            raise ParameterError(
                f"{type(distribution).__name__}: an expectation would be a sum of "
                f"{last - first:.3g} terms, more than {MOST_TERMS:,}. Use the formula of the "
                "family, or a sample."
            )
        x = np.arange(first, last + 1)
        p = distribution.density(x)
        x, p = x[p > 0], p[p > 0]
        return float(np.sum(p * values_of(distribution, function, x)))
    return density_expectation(distribution, function)


def require_size(n: Any, who: str) -> None:
    """Require a whole number of draws, at least 0."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
        raise ParameterError(f"{who}.sample: n={n!r} must be a whole number ≥ 0.")


def least_whole(cdf: Callable[[Array], Array], probability: Array, guess: Array) -> Array:
    """The smallest k ≥ 0 with cdf(k) ≥ probability, by doubling from a guess and bisection."""
    low = np.full_like(probability, -1.0)
    high = np.minimum(np.maximum(np.ceil(guess), 1.0), LARGEST)
    while (short := (cdf(high) < probability) & (high < LARGEST)).any():
        low = np.where(short, high, low)
        high = np.where(short, np.minimum(2 * high, LARGEST), high)
    for _ in range(HALVINGS):
        open_ = high - low > np.maximum(1.0, 2e-16 * high)
        if not open_.any():
            break
        middle = np.floor(low / 2 + high / 2)
        below = cdf(np.maximum(middle, 0.0)) < probability
        low, high = np.where(open_ & below, middle, low), np.where(open_ & ~below, middle, high)
    return np.where((high >= LARGEST) & (cdf(high) < probability), np.inf, high)


def maybe_infinite(default: float, *, above: float) -> Any:
    """A parameter that is a number above a limit, or infinity."""
    return field(default=default, metadata={"check": partial(_at_most_infinite, above=above)})


def _at_most_infinite(part: Part, name: str, *, above: float) -> None:
    value = getattr(part, name)
    number = as_float(value)
    if isinstance(value, bool) or not number > above:
        raise ParameterError(
            f"{type(part).__name__}({name}={shown(value)}): {name} must be a number > {above:g}, "
            "or infinity."
        )
    object.__setattr__(part, name, number)
