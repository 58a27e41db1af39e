"""Distributions of positive numbers: Gamma, and its special cases exponential and chi-squared."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import (
    digamma,
    gammaincinv,
    gammaln,
    lambertw,
    ndtri,
    polygamma,
)

from thetahat.data.source import Source
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.newton import (
    in_units,
    likelihood_quantile,
    newton_fit,
)
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    column,
    require_spread,
)
from thetahat.mathematics.distributions.large_shapes import (
    LOG_ROOT_2PI,
    binet,
    deviance,
    gamma_cdf,
    gamma_quantile,
    log_gamma_kernel,
    log_minus_digamma,
)
from thetahat.mathematics.parts import number

POSITIVE = Support(
    0, open_ends=True, remedy="Remove values ≤ 0, whose density is 0 or infinite, or add a "
    "constant to all."
)  # fmt: skip
NOT_NEGATIVE = Support(0)
NEARLY_NORMAL = 1e-7
"""Value of log(mean x) − mean(log x) below which the shape is estimated by an expansion."""
LARGE_DF = 1e6
"""Degrees of freedom from which they are estimated by an expansion."""


class GammaLike(Distribution):
    """Gamma distributions: everything follows from shape k and rate r."""

    support = (0.0, np.inf)

    @abstractmethod
    def _shape_and_rate(self) -> tuple[float, float]:
        """Shape k and rate r."""

    @property
    def mean(self) -> float:
        k, r = self._shape_and_rate()
        return k / r

    @property
    def variance(self) -> float:
        k, r = self._shape_and_rate()
        return k / r / r

    @property
    def mode(self) -> float:
        k, r = self._shape_and_rate()
        return max(k - 1, 0.0) / r

    @property
    def entropy(self) -> float:
        k, r = self._shape_and_rate()
        # k + log Γ(k) + (1 − k)ψ(k), with the large terms cancelled.
        size = 0.5 * np.log(k) + LOG_ROOT_2PI + binet(k)
        return float(size + (k - 1) * log_minus_digamma(k) - np.log(r))

    def _log_density(self, x: Array) -> Array:
        k, r = self._shape_and_rate()
        y = r * x
        with np.errstate(divide="ignore"):
            inside = log_gamma_kernel(k, y) - np.log(x)
            small = (x > 0) & (y < 1e-290)  # r·x may underflow to 0
            inside = np.where(small, k * np.log(r) + (k - 1) * np.log(x) - gammaln(k), inside)
        return np.where(x > 0, inside, np.log(r) if k == 1 else np.copysign(np.inf, 1 - k))

    def _cdf(self, x: Array) -> Array:
        k, r = self._shape_and_rate()
        return gamma_cdf(k, r * x)

    def _quantile(self, probability: Array) -> Array:
        k, r = self._shape_and_rate()
        return gamma_quantile(k, probability) / r

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        k, r = self._shape_and_rate()
        return random.standard_gamma(k, n) / r

    def _divergence(self, other: Self) -> float:
        (k, r), (m, s) = self._shape_and_rate(), other._shape_and_rate()
        # E log p(X) with log Γ and ψ expanded: their large terms make the deviance of k and m·r/s.
        sizes = 0.5 * (np.log(k) - np.log(m)) + binet(m) - binet(k)
        means = deviance(m, k * (s / r))
        return float(sizes + means - (k - m) * log_minus_digamma(k))


@dataclass(frozen=True)
class Gamma(GammaLike):
    """The Gamma distribution of a positive number, the conjugate prior of a Poisson rate.

    Formula: p(x) = r^k x^(k−1) e^{−rx}/Γ(k); mean k/r, variance k/r². Cost: O(1) per number.

    Parameters
    ----------
    shape : float, default=1.0
        The shape (k). Larger values make the distribution more symmetric. Must be positive.
    rate : float, default=1.0
        The rate, the reciprocal of the scale (r). Larger values move mass to 0. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> waiting = th.distributions.Gamma(3, 2)
    >>> waiting.mean, waiting.mode
    (1.5, 1.0)
    >>> fit = th.distributions.Gamma.fit(waiting.sample(2000, random_state=0))
    >>> fit.estimates.round(1)
    array([3., 2.])
    """

    shape: float = number(1.0, above=0)
    rate: float = number(1.0, above=0)

    name = "gamma"

    def _shape_and_rate(self) -> tuple[float, float]:
        return self.shape, self.rate

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate shape and rate by maximum likelihood, with Newton's method. Cost: O(n).

        Formula: the sums of x and log x are sufficient; the values must be positive. Intervals by
        the profile likelihood.
        """
        who = "Gamma.fit"
        source = column(data, sample_weight, who)
        found = averages(source, _statistics, POSITIVE, who)
        require_spread(found, who, "the variance is 0")
        mean, log_mean = (float(each) for each in found.mean)
        gap = float(np.log(mean)) - log_mean
        if gap < NEARLY_NORMAL:
            return _large_shape(cls, source, mean, found.weight)
        shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
        fit = newton_fit(
            cls,
            ("shape", "rate"),
            partial(_derivatives, 1.0, log_mean - float(np.log(mean))),
            np.array([shape, shape]),
            (True, True),
            found.weight,
            who,
        )
        return in_units(fit, cls, np.zeros(2), np.array([1.0, 1 / mean]), mean)


@dataclass(frozen=True)
class Exponential(GammaLike):
    """The exponential distribution of the time between events of a constant rate.

    Formula: p(x) = λe^{−λx}; mean 1/λ, variance 1/λ². The maximum-likelihood estimate is λ̂ = 1/x̄,
    and 2nλx̄ has a chi-squared distribution, which gives exact intervals. Cost: O(1) per number.

    Parameters
    ----------
    rate : float, default=1.0
        The number of events per unit of time (λ). Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.Exponential(2.0).mean
    0.5
    >>> th.distributions.Exponential.fit([0.5, 1.5, 1.0]).distribution
    Exponential(rate=1.0)
    """

    rate: float = number(1.0, above=0)

    name = "exponential"

    def _shape_and_rate(self) -> tuple[float, float]:
        return 1.0, self.rate

    def _log_density(self, x: Array) -> Array:
        return np.asarray(np.log(self.rate) - self.rate * x)

    def _cdf(self, x: Array) -> Array:
        return np.asarray(-np.expm1(-self.rate * x))

    def _quantile(self, probability: Array) -> Array:
        return np.asarray(-np.log1p(-probability) / self.rate)

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate the rate by maximum likelihood. Cost: O(n).

        Formula: λ̂ = 1/x̄, standard error λ̂/√n, exact interval χ²_{2n}/(2nx̄).
        """
        who = "Exponential.fit"
        found = averages(column(data, sample_weight, who), _itself, NOT_NEGATIVE, who)
        n, mean = found.weight, float(found.mean[0])
        if mean == 0:
            raise DataError(
                f"{who}: at least one positive value is needed, but all {found.n_rows:,} values "
                "are 0, so that the rate would be infinite. Give times on a finer scale."
            )
        return DistributionFit(
            distribution=cls(1 / mean),
            names=("rate",),
            estimates=np.array([1 / mean]),
            standard_errors=np.array([1 / mean / np.sqrt(n)]),
            log_likelihood=float(-n * (np.log(mean) + 1)),
            n_values=n,
            find_intervals=partial(_exponential_intervals, mean, n),
        )


@dataclass(frozen=True)
class ChiSquared(GammaLike):
    """The chi-squared distribution: the sum of the squares of k standard normal numbers.

    Formula: p(x) = x^{k/2−1} e^{−x/2}/(2^{k/2} Γ(k/2)); mean k, variance 2k, mode max(k − 2, 0).
    Cost: O(1) per number.

    Parameters
    ----------
    df : float, default=1.0
        The degrees of freedom (k). Must be positive, and need not be whole.

    Examples
    --------
    >>> import thetahat as th
    >>> distances = th.distributions.ChiSquared(3)
    >>> distances.mean, distances.variance, distances.mode
    (3.0, 6.0, 1.0)
    """

    df: float = number(1.0, above=0)

    name = "chi_squared"
    aliases = ("chi2",)

    def _shape_and_rate(self) -> tuple[float, float]:
        return self.df / 2, 0.5

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate the degrees of freedom by maximum likelihood, with Newton's method. Cost: O(n).

        Formula: the sum of log x is sufficient; the values must be positive. Interval by the
        likelihood ratio.
        """
        who = "ChiSquared.fit"
        found = averages(column(data, sample_weight, who), _statistics, POSITIVE, who)
        mean, log_mean = (float(each) for each in found.mean)
        if log_mean > np.log(LARGE_DF):
            return _large_df(cls, mean, log_mean, found.weight)
        return newton_fit(
            cls,
            ("df",),
            partial(_of_chi_squared, mean, log_mean),
            np.array([mean]),
            (True,),
            found.weight,
            who,
        )


def _large_shape(cls: type[Gamma], source: Source, mean: float, n: float) -> DistributionFit:
    """The fit of a nearly normal Gamma distribution, for which log k − ψ(k) has few digits.

    With log k − ψ(k) = 1/(2k) + 1/(12k²) the estimate has a closed form, and the deviance of
    ρ = k/k̂ is n(ρ − 1 − log ρ). The neglected terms are of order 1/k.
    """
    average, spread = averages(source, partial(_log_gaps, mean)).mean
    # The mean was rounded: log(mean of x/c) − mean of log(x/c) for the rounded c.
    gap = float(spread - 0.5 * average * average)
    shape = (1 + np.sqrt(1 + 4 * gap / 3)) / (4 * gap)
    estimates = np.array([shape, shape / mean])
    mean_value = 0.5 * np.log(shape / (2 * np.pi)) - 1 / (12 * shape) - (shape - 1) * gap
    return DistributionFit(
        distribution=cls(*estimates),
        names=("shape", "rate"),
        estimates=estimates,
        standard_errors=estimates * np.sqrt(2 / n),
        log_likelihood=float(n * (mean_value - np.log(mean))),
        n_values=n,
        find_intervals=partial(_large_shape_intervals, estimates, n),
    )


def _log_gaps(mean: float, x: Array) -> Array:
    """y and y − log(1 + y) for y = x/mean − 1, without cancellation."""
    y = (x - mean) / mean
    near = np.where(np.abs(y) < 0.02, y, 0.0)
    series = near * near * sum((-near) ** j / (j + 2) for j in range(9))
    return np.stack([y, np.where(np.abs(y) < 0.02, series, y - np.log1p(y))])


def _large_shape_intervals(estimates: Array, n: float, level: float) -> Array:
    target = likelihood_quantile(n - 2, True, level)
    inner = -np.exp(-1 - target * target / n)
    ratios = np.array([-lambertw(inner, 0).real, -lambertw(inner, -1).real])
    return estimates[:, None] * ratios


def _large_df(cls: type[ChiSquared], mean: float, log_mean: float, n: float) -> DistributionFit:
    """The fit of many degrees of freedom: ψ(k/2) = log_mean − log 2 by its expansion."""
    centre = np.exp(log_mean) / 2
    df = float(2 * centre + 1 - 1 / (12 * centre))
    error = float(np.sqrt(2 * df / n))
    return DistributionFit(
        distribution=cls(df),
        names=("df",),
        estimates=np.array([df]),
        standard_errors=np.array([error]),
        log_likelihood=n * _of_chi_squared(mean, log_mean, np.array([df]))[0],
        n_values=n,
        find_intervals=partial(_symmetric_interval, df, error),
    )


def _symmetric_interval(estimate: float, error: float, level: float) -> Array:
    half = float(ndtri((1 + level) / 2)) * error
    return np.array([[estimate - half, estimate + half]])


def _statistics(x: Array) -> Array:
    return np.stack([x, np.log(x)])


def _itself(x: Array) -> Array:
    return x[None]


def _derivatives(mean: float, log_mean: float, theta: Array) -> tuple[float, Array, Array]:
    k, r = theta
    value = k * np.log(r) - gammaln(k) + (k - 1) * log_mean - r * mean
    gradient = np.array([np.log(r) - digamma(k) + log_mean, k / r - mean])
    hessian = np.array([[-polygamma(1, k), 1 / r], [1 / r, -k / r / r]])
    return float(value), gradient, hessian


def _of_chi_squared(mean: float, log_mean: float, theta: Array) -> tuple[float, Array, Array]:
    k = float(theta[0]) / 2
    value = (k - 1) * log_mean - mean / 2 - k * np.log(2) - gammaln(k)
    gradient = (log_mean - np.log(2) - digamma(k)) / 2
    return float(value), np.array([gradient]), np.array([[-polygamma(1, k) / 4]])


def _exponential_intervals(mean: float, n: float, level: float) -> Array:
    tail = (1 - level) / 2
    ends = gammaincinv(n, [tail, 1 - tail]) / (n * mean)
    if not np.isfinite(ends).all():  # more values than the inverse function is made for
        half = float(ndtri(1 - tail)) / np.sqrt(n)
        ends = np.array([1 - half, 1 + half]) / mean
    return np.asarray(ends)[None]
