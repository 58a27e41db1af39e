"""The normal distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtrit

from thetahat.data.summaries.moments import Moments, moments
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.result import DistributionFit, MapFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import column
from thetahat.mathematics.distributions.large_shapes import LOG_ROOT_2PI
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal (Gaussian) distribution N(μ, σ²).

    Formula: p(x) = exp(−(x − μ)²/(2σ²))/(σ√(2π)); entropy ½log(2πeσ²). The maximum-likelihood
    estimates are μ̂ = x̄ and σ̂² = Σ(x − x̄)²/n. Cost: O(1) per number.

    Parameters
    ----------
    mean : float, default=0.0
        The expectation (μ). Must be a finite number.
    sigma : float, default=1.0
        The standard deviation (σ), the square root of the variance. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.Normal(0, 1).quantile(0.975).round(4)
    np.float64(1.96)
    >>> prior = th.distributions.Normal(30, 10)
    >>> after = th.distributions.posterior(prior, [25, 45, 30, 50], noise=5)
    >>> round(after.mean, 6), round(after.variance, 6)
    (37.058824, 5.882353)
    """

    mean: float = number(0.0)
    sigma: float = number(1.0, above=0)

    name = "normal"
    aliases = ("gaussian",)
    support = (-np.inf, np.inf)

    @property
    def variance(self) -> float:
        return self.sigma * self.sigma

    @property
    def standard_deviation(self) -> float:
        return self.sigma

    @property
    def mode(self) -> float:
        return self.mean

    @property
    def entropy(self) -> float:
        return float(LOG_ROOT_2PI + 0.5 + np.log(self.sigma))

    def _log_density(self, x: Array) -> Array:
        z = (x - self.mean) / self.sigma
        return -0.5 * z * z - np.log(self.sigma) - LOG_ROOT_2PI

    def _cdf(self, x: Array) -> Array:
        return ndtr((x - self.mean) / self.sigma)

    def _quantile(self, probability: Array) -> Array:
        return self.mean + self.sigma * ndtri(probability)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        return random.normal(self.mean, self.sigma, n)

    @classmethod
    @described_like(fit_arguments)
    def fit(
        cls, data: Any, sample_weight: Any = None, *, unbiased: bool = False
    ) -> DistributionFit:
        """Estimate mean and standard deviation by maximum likelihood. Cost: O(n).

        Formula: μ̂ = x̄ and σ̂² = Σ(x − x̄)²/n, or s² = Σ(x − x̄)²/(n − 1). The intervals are exact:
        that of μ by Student's t distribution, that of σ by the chi-squared distribution.

        Parameters
        ----------
        unbiased : bool, default=False
            Whether to divide by n − 1 (s²) instead of n. The variance is then right on average
            over samples, and no longer the most likely one.
        """
        who = "Normal.fit"
        found = moments(column(data, sample_weight, who))
        n, mean, scatter = found.weight, *_mean_and_scatter(found, who)
        if n <= 1:
            raise DataError(
                f"{who}: the weights sum to {n:g}, but a variance needs more than 1. Give more "
                "values, or weights that count repetitions."
            )
        sigma = float(np.sqrt(scatter / (n - 1 if unbiased else n)))
        square = sigma * sigma
        return DistributionFit(
            distribution=cls(mean, sigma),
            names=("mean", "sigma"),
            estimates=np.array([mean, sigma]),
            standard_errors=np.array([np.sqrt(scatter / (n - 1) / n), sigma / np.sqrt(2 * n)]),
            log_likelihood=float(-n * (np.log(sigma) + LOG_ROOT_2PI) - scatter / (2 * square)),
            n_values=n,
            find_intervals=partial(_intervals, mean, scatter, n),
        )

    @classmethod
    def map_fit(cls, data: Any, prior: Normal, noise: float, sample_weight: Any = None) -> MapFit:
        """Compute the most probable mean under a normal prior, with known noise. Cost: O(n).

        Formula: μ̂ = B/A with A = n/σ₁² + 1/σ₀² and B = Σx/σ₁² + μ₀/σ₀².

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed values. No values at all give the mean of the prior.
        prior : Normal
            The prior of the mean, N(μ₀, σ₀²).
        noise : float
            The known standard deviation of the values about their mean (σ₁). Must be positive.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.

        Returns
        -------
        MapFit
        """
        after = normal_posterior(prior, data, noise, sample_weight, "Normal.map_fit")
        return MapFit(cls(after.mean, noise), after)

    def _divergence(self, other: Self) -> float:
        ratio = self.sigma / other.sigma
        gap = (self.mean - other.mean) / other.sigma
        return float(0.5 * (ratio * ratio - 1 + gap * gap) - np.log(ratio))


def _mean_and_scatter(found: Moments, who: str) -> tuple[float, float]:
    """x̄ and Σw(x − x̄)²; an error if all values are equal."""
    scatter = float(found.in_data_units()[0, 0])
    mean = float(found.mean[0])
    if scatter <= 0:
        count = "the only value is" if found.n_rows == 1 else f"all {found.n_rows:,} values are"
        raise DataError(
            f"{who}: at least two different values are needed, but {count} {mean:g}, so that the "
            "variance is 0 and the likelihood has no maximum. Give more values, or pass known "
            "parameters to the constructor."
        )
    return mean, scatter


def _intervals(mean: float, scatter: float, n: float, level: float) -> Array:
    tail = (1 - level) / 2
    half = float(stdtrit(n - 1, 1 - tail)) * np.sqrt(scatter / (n - 1) / n)
    squares = 2 * gammaincinv((n - 1) / 2, np.array([1 - tail, tail]))
    return np.array([[mean - half, mean + half], np.sqrt(scatter / squares)])


def normal_posterior(prior: Any, data: Any, noise: Any, sample_weight: Any, who: str) -> Normal:
    """N(B/A, 1/A), the posterior of the mean of values with known noise."""
    if not isinstance(prior, Normal):
        raise ParameterError(
            f"{who}: prior={prior!r} is not a Normal distribution, which is the conjugate prior of "
            "a mean. Use th.distributions.Normal(mean, sigma)."
        )
    if noise is None:
        raise ParameterError(
            f"{who}: noise is needed with a Normal prior, but it is None. Pass the known standard "
            "deviation of the values about their mean: noise=..."
        )
    error = Normal(0.0, noise).sigma
    source = column(data, sample_weight, who, may_be_empty=True)
    if source is None:
        return prior
    found = moments(source)
    ratio = (prior.sigma / error) ** 2 * found.weight  # precision of the data over the prior's
    share = ratio / (1 + ratio)
    mean = prior.mean + share * (float(found.mean[0]) - prior.mean)
    return Normal(mean, prior.sigma / float(np.sqrt(1 + ratio)))
