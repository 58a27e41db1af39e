"""Distributions of one binary value: Bernoulli by its probability, and by its logit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import entr, expit, log1p, log_expit, logit, xlog1py, xlogy

from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.beta import Beta
from thetahat.mathematics.distributions.fitting.intervals import share_intervals
from thetahat.mathematics.distributions.fitting.result import DistributionFit, MapFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import Averages, Support, averages, column
from thetahat.mathematics.parts import number

BINARY = Support(0, 1, whole=True, remedy="Code the two outcomes as 0 and 1.")


class _Binary(Distribution):
    """What both parametrisations share; the subclasses give P(X = 1) and log-probabilities."""

    discrete = True
    support = (0.0, 1.0)

    @property
    def probability(self) -> float:
        """The probability of the value 1, P(X = 1)."""
        raise NotImplementedError

    @property
    def mean(self) -> float:
        return self.probability

    @property
    def variance(self) -> float:
        return self.probability * (1 - self.probability)

    @property
    def mode(self) -> float:
        return np.nan if self.probability == 0.5 else float(self.probability > 0.5)

    @property
    def entropy(self) -> float:
        return float(entr(self.probability) + entr(1 - self.probability))

    def _cdf(self, x: Array) -> Array:
        return np.full(x.shape, 1 - self.probability)

    def _quantile(self, probability: Array) -> Array:
        return np.where(probability <= 1 - self.probability, 0.0, 1.0)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        return (random.random(n) < self.probability).astype(np.int64)


@dataclass(frozen=True)
class Bernoulli(_Binary):
    """The Bernoulli distribution: the value 1 with probability p, otherwise 0.

    Formula: P(X = x) = p^x (1 − p)^(1−x) for x in {0, 1}; mean p, variance p(1 − p). The
    maximum-likelihood estimate is the share of ones, p̂ = N₁/(N₀ + N₁). Cost: O(1) per number.

    Parameters
    ----------
    p : float, default=0.5
        The probability of the value 1. Must lie from 0 to 1.

    Examples
    --------
    >>> import thetahat as th
    >>> coin = th.distributions.Bernoulli(0.9)
    >>> import math
    >>> round(math.exp(coin.log_likelihood([1, 1, 1, 1, 0])), 5)
    0.06561
    >>> th.distributions.Bernoulli.fit([1, 1, 1, 1, 0]).distribution
    Bernoulli(p=0.8)
    """

    p: float = number(0.5, at_least=0, at_most=1)

    name = "bernoulli"

    @property
    def probability(self) -> float:
        return self.p

    def _log_density(self, x: Array) -> Array:
        return xlogy(x, self.p) + xlog1py(1 - x, -self.p)

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate p by maximum likelihood. Cost: O(n).

        Formula: p̂ = N₁/N, standard error √(p̂(1 − p̂)/N), mid-P interval.
        """
        found = _share(column(data, sample_weight, "Bernoulli.fit"), "Bernoulli.fit")
        n, p = found.weight, float(found.mean[0])
        return DistributionFit(
            distribution=cls(p),
            names=("p",),
            estimates=np.array([p]),
            standard_errors=np.array([np.sqrt(p * (1 - p) / n)]),
            log_likelihood=-n * float(entr(p) + entr(1 - p)),
            n_values=n,
            find_intervals=partial(share_intervals, np.array([n * p]), n),
        )

    @classmethod
    def map_fit(cls, data: Any, prior: Beta | None = None, sample_weight: Any = None) -> MapFit:
        """Compute the most probable p under a Beta prior. Cost: O(n).

        Formula: p̂ = (N₁ + α − 1)/(N + α + β − 2). With α = β = 2 this is add-one smoothing,
        (N₁ + 1)/(N + 2).

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed values, each 0 or 1. No values at all give the mode of the prior.
        prior : Beta, optional
            The prior of p. By default ``Beta(2, 2)``, which is add-one smoothing.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.

        Returns
        -------
        MapFit
        """
        after = beta_posterior(
            Beta(2.0, 2.0) if prior is None else prior, data, sample_weight, "Bernoulli.map_fit"
        )
        if np.isnan(after.mode):
            raise ParameterError(
                f"Bernoulli.map_fit: the posterior {after} has no single mode. Use a prior with "
                "alpha > 1 and beta > 1, or the mean of th.distributions.posterior(prior, data)."
            )
        return MapFit(cls(after.mode), after)

    def _divergence(self, other: Self) -> float:
        p, q = self.p, other.p
        with np.errstate(divide="ignore"):
            ones = p * (np.log(p) - np.log(q)) if p > 0 else 0.0
            zeros = (1 - p) * (log1p(-p) - log1p(-q)) if p < 1 else 0.0
        return float(ones + zeros)


@dataclass(frozen=True)
class BernoulliLogit(_Binary):
    """The Bernoulli distribution by its logit w = log(p/(1 − p)), which may be any number.

    Formula: P(X = x) = e^{xw}/(1 + e^w); the log-likelihood of n values is ℓ(w) = n(x̄w −
    log(1 + e^w)), with the derivative n(x̄ − σ(w)), which is 0 at σ(ŵ) = x̄. Probabilities stay
    accurate where p itself would round to 0 or 1. Cost: O(1) per number.

    Parameters
    ----------
    logit : float, default=0.0
        The logarithm of the odds of the value 1 (w). Must be a finite number.

    Examples
    --------
    >>> import thetahat as th
    >>> fit = th.distributions.BernoulliLogit.fit([1, 1, 1, 1, 0])
    >>> round(fit.distribution.logit, 6)
    1.386294
    >>> round(th.distributions.BernoulliLogit(0.0).gradient([1, 1, 1, 1, 0]), 6)
    1.5
    """

    logit: float = number(0.0)

    name = "bernoulli_logit"

    @property
    def probability(self) -> float:
        return float(expit(self.logit))

    @property
    def variance(self) -> float:
        return float(expit(self.logit) * expit(-self.logit))

    @property
    def entropy(self) -> float:
        p, q = expit(self.logit), expit(-self.logit)
        return float(-p * log_expit(self.logit) - q * log_expit(-self.logit))

    def _log_density(self, x: Array) -> Array:
        return np.where(x == 1, log_expit(self.logit), log_expit(-self.logit))

    def gradient(self, data: Any, sample_weight: Any = None) -> float:
        """Compute the derivative n(x̄ − σ(w)) of the log-likelihood at this logit. Cost: O(n).

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed values, each 0 or 1, or a source of one such column.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.

        Returns
        -------
        float
        """
        who = "BernoulliLogit.gradient"
        found = _share(column(data, sample_weight, who), who)
        return float(found.weight * (found.mean[0] - expit(self.logit)))

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate the logit by maximum likelihood. Cost: O(n).

        Formula: ŵ = log(x̄/(1 − x̄)), standard error 1/√(n x̄(1 − x̄)); the interval is the logit
        of the mid-P interval of p.
        """
        who = "BernoulliLogit.fit"
        found = _share(column(data, sample_weight, who), who)
        n, p = found.weight, float(found.mean[0])
        if p in (0.0, 1.0):
            raise DataError(
                f"{who}: all {found.n_rows:,} values are {p:g}, so that the likelihood grows "
                "without limit with the logit. Use Bernoulli.fit, or Bernoulli.map_fit with a "
                "prior."
            )
        return DistributionFit(
            distribution=cls(float(logit(p))),
            names=("logit",),
            estimates=np.array([float(logit(p))]),
            standard_errors=np.array([1 / np.sqrt(n * p * (1 - p))]),
            log_likelihood=-n * float(entr(p) + entr(1 - p)),
            n_values=n,
            find_intervals=partial(_logit_intervals, n * p, n),
        )

    def _divergence(self, other: Self) -> float:
        p = float(expit(self.logit))
        ones = log_expit(self.logit) - log_expit(other.logit)
        zeros = log_expit(-self.logit) - log_expit(-other.logit)
        return float(p * ones + expit(-self.logit) * zeros)


def _logit_intervals(count: float, n: float, level: float) -> Array:
    return np.asarray(logit(share_intervals(np.array([count]), n, level)))


def _share(source: Any, who: str) -> Averages:
    return averages(source, _itself, BINARY, who)


def _itself(x: Array) -> Array:
    return x[None]


def beta_posterior(prior: Any, data: Any, sample_weight: Any, who: str) -> Beta:
    """Beta(α + N₁, β + N₀), the posterior of p after binary values."""
    if not isinstance(prior, Beta):
        raise ParameterError(
            f"{who}: prior={prior!r} is not a Beta distribution, which is the conjugate prior of a "
            "probability. Use th.distributions.Beta(alpha, beta)."
        )
    source = column(data, sample_weight, who, may_be_empty=True)
    if source is None:
        return prior
    found = _share(source, who)
    ones = found.weight * float(found.mean[0])
    return Beta(prior.alpha + ones, prior.beta + (found.weight - ones))
