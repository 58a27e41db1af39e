"""The F distribution of the ratio of two variances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, fdtr, fdtri, polygamma

from thetahat.data.source import Source
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution, maybe_infinite
from thetahat.mathematics.distributions.fitting.newton import newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import averages, column, require_spread
from thetahat.mathematics.distributions.gamma import POSITIVE
from thetahat.mathematics.distributions.large_shapes import (
    HUGE_BETA,
    LOG_ROOT_2PI,
    beta_cdf,
    beta_log_odds,
    beta_quantile,
    binet,
    gamma_cdf,
    gamma_quantile,
    is_quantile,
    log_beta_kernel,
    log_beta_kernel_far,
    log_gamma_kernel,
    log_minus_digamma,
)
from thetahat.mathematics.parts import number

TINY_DF = 0.01
"""Half of the degrees of freedom below which draws are made of logarithms."""
LARGEST_DF = 1e6
"""Degrees of freedom from which an estimate counts as infinite."""
MOST_DF = 1e8
"""Degrees of freedom from which more make no difference to a likelihood."""


@dataclass(frozen=True)
class F(Distribution):
    """The F distribution of the ratio of two variances.

    Formula: (Q₁/v₁)/(Q₂/v₂) with independent chi-squared Q₁ and Q₂ of v₁ and v₂ degrees of freedom;
    mean v₂/(v₂ − 2) for v₂ > 2. Cost: O(1) per number.

    Parameters
    ----------
    df1 : float, default=1.0
        The degrees of freedom of the numerator (v₁). Must be positive.
    df2 : float, default=1.0
        The degrees of freedom of the denominator (v₂). Must be positive; infinity is the
        distribution of Q₁/v₁, Gamma(v₁/2, v₁/2).

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.F(3, 10).mean
    1.25
    """

    df1: float = number(1.0, above=0)
    df2: float = maybe_infinite(1.0, above=0)

    name = "f"
    support = (0.0, np.inf)

    @property
    def mean(self) -> float:
        return 1 / (1 - 2 / self.df2) if self.df2 > 2 else np.inf

    @property
    def variance(self) -> float:
        a, b = self.df1, self.df2
        if b <= 4:
            return np.inf if b > 2 else np.nan
        return 2 * self.mean**2 * ((1 - 2 / b) / a + 1 / b) / (1 - 4 / b)

    @property
    def mode(self) -> float:
        a, b = self.df1, self.df2
        return max(a - 2, 0.0) / a / (1 + 2 / b)

    @property
    def entropy(self) -> float:
        a, b = self.df1 / 2, self.df2 / 2
        # log B + (1 − a)ψ(a) − (1 + b)ψ(b) + (a + b)ψ(a + b) + log(b/a), large terms cancelled.
        numerator = LOG_ROOT_2PI - 0.5 * np.log(a) + binet(a) + (a - 1) * log_minus_digamma(a)
        if np.isinf(b):
            return float(numerator)
        total = a + b
        size = 0.5 * np.log1p(a / b) + binet(b) - binet(total)
        digammas = (1 + b) * log_minus_digamma(b) - total * log_minus_digamma(total)
        return float(numerator + size + digammas)

    def _shares(self, x: Array) -> tuple[Array, Array]:
        """The shares v₁x/(v₂ + v₁x) and v₂/(v₂ + v₁x), each with its own digits."""
        with np.errstate(divide="ignore", over="ignore"):
            ratio = np.exp(np.log(x) + (np.log(self.df1) - np.log(self.df2)))
            usual = x * (self.df1 / self.df2) if 1e-300 < self.df1 / self.df2 < 1e300 else ratio
            return 1 / (1 + 1 / usual), 1 / (1 + usual)

    def _log_density(self, x: Array) -> Array:
        a, b = self.df1 / 2, self.df2 / 2
        positive = np.where(x > 0, x, 1.0)
        if np.isinf(b):
            kernel = log_gamma_kernel(a, a * positive)
        else:
            above, below = self._shares(positive)
            kernel = log_beta_kernel(a, b, above, below)
            if not (above.all() and below.all()):
                ratio = np.log(positive) + (np.log(self.df1) - np.log(self.df2))
                kernel = np.where(above == 0, log_beta_kernel_far(a, b, ratio), kernel)
                kernel = np.where(below == 0, log_beta_kernel_far(b, a, -ratio), kernel)
        at_zero = 0.0 if a == 1 else np.copysign(np.inf, 1 - a)
        return np.where(x > 0, kernel - np.log(positive), at_zero)

    def _cdf(self, x: Array) -> Array:
        a, b = self.df1 / 2, self.df2 / 2
        return gamma_cdf(a, a * x) if np.isinf(b) else beta_cdf(a, b, *self._shares(x))

    def _quantile(self, probability: Array) -> Array:
        a, b = self.df1 / 2, self.df2 / 2
        if np.isinf(b):
            return gamma_quantile(a, probability) / a
        if max(a, b) < HUGE_BETA:
            found = np.asarray(fdtri(self.df1, self.df2, probability))
            if is_quantile(partial(fdtr, self.df1, self.df2), found, probability):
                return found
            with np.errstate(over="ignore"):
                return np.exp(beta_log_odds(a, b, probability) + (np.log(b) - np.log(a)))
        if a > b:  # the smaller share has more digits
            with np.errstate(divide="ignore"):
                return 1 / _odds(beta_quantile(b, a, 1 - probability), a, b)
        return _odds(beta_quantile(a, b, probability), b, a)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        a, b = self.df1 / 2, self.df2 / 2
        if TINY_DF < min(a, b) and max(a, b) < HUGE_BETA:
            return random.f(self.df1, self.df2, n)
        logs = _log_means(a, n, random)
        return np.exp(logs if np.isinf(b) else logs - _log_means(b, n, random))

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate both degrees of freedom by maximum likelihood, with Newton's method.

        Cost: O(n) per iteration, one pass over the values each, and some hundred passes for
        intervals, which are those of the profile likelihood. The values must be positive. It is an
        error if the likelihood still grows at a million degrees of freedom.
        """
        who = "F.fit"
        source = column(data, sample_weight, who)
        found = averages(source, _logarithm, POSITIVE, who)
        require_spread(found, who, "the variance is 0")
        fit = newton_fit(
            cls,
            ("df1", "df2"),
            partial(_mean_derivatives, source),
            np.array([5.0, 5.0]),
            (True, True),
            found.weight,
            who,
        )
        for name, value in zip(fit.names, fit.estimates, strict=True):
            if value > LARGEST_DF:
                raise DataError(
                    f"{who}: the likelihood of these values has no maximum at finite degrees of "
                    f"freedom: it still grows at {name}={value:.3g}, where more make no "
                    "difference. Use Gamma.fit: as df2 grows, F approaches Gamma(df1/2, df1/2)."
                )
        return fit


def _odds(share: Array, most: float, least: float) -> Array:
    """share/(1 − share)·most/least, where the quotient of the shapes may overflow."""
    with np.errstate(divide="ignore", over="ignore"):
        if most / least < 1e300:
            return share * (most / least) / (1 - share)
        return np.exp(np.log(share) - np.log1p(-share) + np.log(most) - np.log(least))


def _log_means(shape: float, n: int, random: np.random.Generator) -> Array:
    """log(G/shape) of Gamma draws G, which may be smaller than any float64."""
    if shape > TINY_DF:
        return np.log(random.standard_gamma(shape, n) / shape)
    # G_k = G_{k+1}·U^{1/k} with uniform U.
    return np.log(random.standard_gamma(shape + 1, n) / shape) + np.log1p(-random.random(n)) / shape


def _logarithm(x: Array) -> Array:
    return np.log(x)[None]


def _mean_derivatives(source: Source, theta: Array) -> tuple[float, Array, Array]:
    """One pass over the values: the mean log-likelihood and its derivatives."""
    known = np.minimum(theta, MOST_DF)
    value, one, two, first, cross, second = averages(source, partial(_rows, *known)).mean
    return float(value), np.array([one, two]), np.array([[first, cross], [cross, second]])


def _rows(a: float, b: float, x: Array) -> Array:
    """Value, gradient and Hessian (11, 12, 22) of log p for every value, as rows."""
    total, half = b + a * x, (a + b) / 2
    log_x, ratio = np.log(x), a * x / b
    # log of the shares a·x/total and b/total, in which large degrees of freedom cancel
    above, below = -np.log1p(1 / ratio), -np.log1p(ratio)
    value = 0.5 * (a * above + b * below) - log_x - betaln(a / 2, b / 2)
    slope, curve = digamma(half), polygamma(1, half)
    one = 0.5 * (1 + above + slope - digamma(a / 2)) - half * x / total
    two = 0.5 * (1 + below + slope - digamma(b / 2)) - half / total
    square = half / total**2
    first = 0.5 / a - x / total + square * x * x + 0.25 * (curve - polygamma(1, a / 2))
    cross = -0.5 * (1 + x) / total + square * x + 0.25 * curve
    second = 0.5 / b - 1 / total + square + 0.25 * (curve - polygamma(1, b / 2))
    return np.stack([value, one, two, first, cross, second])
