"""Distributions of counts: Poisson, and the negative binomial for a random rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import gammaln, ndtri, xlogy

from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution, expectation, least_whole
from thetahat.mathematics.distributions.fitting.intervals import rate_intervals
from thetahat.mathematics.distributions.fitting.result import DistributionFit, MapFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import Averages, Support, averages, column
from thetahat.mathematics.distributions.gamma import Gamma
from thetahat.mathematics.distributions.large_shapes import (
    beta_cdf,
    deviance,
    gamma_cdf,
    log_beta_kernel,
    log_gamma_kernel,
)
from thetahat.mathematics.parts import number

COUNTS = Support(0, whole=True, remedy="Give counts of events, without scaling them.")


LARGEST_RATE = 9.2e18
"""Largest rate whose counts fit into 64-bit integers."""
MANY = 1e3
"""Rate from which the entropy is that of its expansion in 1/λ, to rounding."""


class _Count(Distribution):
    """Distributions of the whole numbers from 0 on."""

    discrete = True
    support = (0.0, np.inf)

    @property
    def entropy(self) -> float:
        return expectation(self, lambda x: -self.log_density(x))

    def _quantile(self, probability: Array) -> Array:
        with np.errstate(invalid="ignore"):
            guess = np.nan_to_num(self.mean + ndtri(probability) * self.standard_deviation)
        return least_whole(self._cdf, probability, np.maximum(guess, 0.0))


@dataclass(frozen=True)
class Poisson(_Count):
    """The Poisson distribution of the number of events that happen at a constant rate.

    Formula: P(X = x) = λ^x e^{−λ}/x!; mean and variance are λ, and the maximum-likelihood estimate
    is the mean of the counts. Cost: O(1) per number.

    Parameters
    ----------
    rate : float, default=1.0
        The expected number of events (λ). Must not be negative.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.Poisson(2.0).density([0, 1, 2]).round(4)
    array([0.1353, 0.2707, 0.2707])
    >>> th.distributions.Poisson.fit([0, 3, 1, 4]).distribution
    Poisson(rate=2.0)
    """

    rate: float = number(1.0, at_least=0)

    name = "poisson"

    @property
    def mean(self) -> float:
        return self.rate

    @property
    def variance(self) -> float:
        return self.rate

    @property
    def mode(self) -> float:
        whole = self.rate == np.floor(self.rate) and self.rate > 0  # λ − 1 and λ are both modes
        return np.nan if whole else float(np.floor(self.rate))

    @property
    def entropy(self) -> float:
        if self.rate < MANY:
            return super().entropy
        rate = self.rate
        correction = (1 / 12 + (1 / 24 + 19 / (360 * rate)) / rate) / rate
        return float(0.5 * np.log(2 * np.pi * np.e * rate) - correction)

    def _log_density(self, x: Array) -> Array:
        if self.rate == 0:
            return np.where(x == 0, 0.0, -np.inf)
        positive = np.maximum(x, 1.0)
        return np.where(x > 0, log_gamma_kernel(positive, self.rate) - np.log(positive), -self.rate)

    def _cdf(self, x: Array) -> Array:
        return gamma_cdf(x + 1, self.rate, upper=True)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        remedy = "Draw from Normal(rate, rate**0.5) instead: it differs less than rounding does."
        return _counts(random, np.broadcast_to(self.rate, (n,)), self, remedy)

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate the rate by maximum likelihood. Cost: O(n).

        Formula: λ̂ = x̄, standard error √(λ̂/n), mid-P interval.
        """
        found = _counted(column(data, sample_weight, "Poisson.fit"), "Poisson.fit")
        n, mean, log_factorial = found.weight, float(found.mean[0]), float(found.mean[1])
        return DistributionFit(
            distribution=cls(mean),
            names=("rate",),
            estimates=np.array([mean]),
            standard_errors=np.array([np.sqrt(mean / n)]),
            log_likelihood=float(n * (xlogy(mean, mean) - mean - log_factorial)),
            n_values=n,
            find_intervals=partial(rate_intervals, n * mean, n),
        )

    @classmethod
    def map_fit(cls, data: Any, prior: Gamma, sample_weight: Any = None) -> MapFit:
        """Compute the most probable rate under a Gamma prior. Cost: O(n).

        Formula: λ̂ = (Σx + shape − 1)/(n + rate), or 0 if that is negative.

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed counts. No counts at all give the mode of the prior.
        prior : Gamma
            The prior of the rate, with the weight of ``rate`` earlier values.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.

        Returns
        -------
        MapFit
        """
        after = gamma_posterior(prior, data, sample_weight, "Poisson.map_fit")
        return MapFit(cls(after.mode), after)

    def _divergence(self, other: Self) -> float:
        if other.rate == 0:
            return 0.0 if self.rate == 0 else np.inf
        return float(deviance(self.rate, other.rate))


@dataclass(frozen=True)
class NegativeBinomial(_Count):
    """The negative binomial distribution: Poisson counts whose rate has a Gamma distribution.

    Formula: P(X = x) = Γ(x + r)/(x! Γ(r))·p^r (1 − p)^x; mean r(1 − p)/p, variance mean/p. It is
    the predictive distribution of a count under a Gamma posterior. Cost: O(1) per number.

    Parameters
    ----------
    size : float, default=1.0
        The shape of the distribution of rates (r). Larger values bring it closer to Poisson. Must
        be positive.
    p : float, default=0.5
        The share of variance that Poisson noise explains. Must be greater than 0 and at most 1.

    Examples
    --------
    >>> import thetahat as th
    >>> waiting = th.distributions.NegativeBinomial(1, 0.5)
    >>> waiting.mean, waiting.variance
    (1.0, 2.0)
    """

    size: float = number(1.0, above=0)
    p: float = number(0.5, above=0, at_most=1)

    name = "negative_binomial"

    @property
    def mean(self) -> float:
        return self.size * (1 - self.p) / self.p

    @property
    def variance(self) -> float:
        return self.mean / self.p

    @property
    def mode(self) -> float:
        peak = (self.size - 1) * (1 - self.p) / self.p
        whole = peak == np.floor(peak) and peak > 0  # peak − 1 and peak are both modes
        return np.nan if whole else float(max(np.floor(peak), 0.0))

    def _log_density(self, x: Array) -> Array:
        r, p = self.size, self.p
        positive = np.maximum(x, 1.0)
        inside = log_beta_kernel(r, positive, p, 1 - p) - np.log(positive)
        return np.where(x > 0, inside, r * np.log(p))

    def _cdf(self, x: Array) -> Array:
        return beta_cdf(self.size, x + 1, self.p, 1 - self.p)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        rates = random.standard_gamma(self.size, n) * ((1 - self.p) / self.p)
        remedy = "Draw from Gamma(size, p/(1 − p)) instead: it differs less than rounding does."
        return _counts(random, rates, self, remedy)


def _counts(random: np.random.Generator, rates: Array, law: Distribution, remedy: str) -> Array:
    """Poisson counts of these rates; an error if they do not fit into int64."""
    if rates.size and not rates.max() <= LARGEST_RATE:
        raise ParameterError(
            f"{law!r}.sample: counts are drawn as 64-bit integers, which end at about 9.2e18, but "
            f"the expected number of events is {rates.max():.3g}. {remedy}"
        )
    return random.poisson(rates)


def _statistics(x: Array) -> Array:
    return np.stack([x, gammaln(x + 1)])


def _counted(source: Any, who: str) -> Averages:
    return averages(source, _statistics, COUNTS, who)


def gamma_posterior(prior: Any, data: Any, sample_weight: Any, who: str) -> Gamma:
    """Gamma(shape + Σx, rate + n), the posterior of the rate after counts."""
    if not isinstance(prior, Gamma):
        raise ParameterError(
            f"{who}: prior={prior!r} is not a Gamma distribution, which is the conjugate prior of "
            "a rate. Use th.distributions.Gamma(shape, rate)."
        )
    source = column(data, sample_weight, who, may_be_empty=True)
    if source is None:
        return prior
    found = _counted(source, who)
    return Gamma(prior.shape + found.weight * float(found.mean[0]), prior.rate + found.weight)
