"""The F distribution of the ratio of two variances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, fdtr, fdtri, polygamma, xlogy

from thetahat.data.source import Source
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.newton import newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import averages, column, require_spread
from thetahat.mathematics.distributions.gamma import POSITIVE
from thetahat.mathematics.parts import number

LARGEST_DF = 1e6
"""Degrees of freedom from which an estimate counts as infinite."""


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
        The degrees of freedom of the denominator (v₂). Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.F(3, 10).mean
    1.25
    """

    df1: float = number(1.0, above=0)
    df2: float = number(1.0, above=0)

    name = "f"
    support = (0.0, np.inf)

    @property
    def mean(self) -> float:
        return self.df2 / (self.df2 - 2) if self.df2 > 2 else np.inf

    @property
    def variance(self) -> float:
        a, b = self.df1, self.df2
        if b <= 4:
            return np.inf if b > 2 else np.nan
        return 2 * (b / (b - 2)) ** 2 * (a + b - 2) / (a * (b - 4))

    @property
    def mode(self) -> float:
        a, b = self.df1, self.df2
        return max(a - 2, 0.0) / a * b / (b + 2)

    @property
    def entropy(self) -> float:
        a, b = self.df1 / 2, self.df2 / 2
        digammas = (1 - a) * digamma(a) - (1 + b) * digamma(b) + (a + b) * digamma(a + b)
        return float(betaln(a, b) + digammas + np.log(b / a))

    def _log_density(self, x: Array) -> Array:
        a, b = self.df1, self.df2
        logs = 0.5 * a * np.log(a) + 0.5 * b * np.log(b) + xlogy(a / 2 - 1, x)
        return logs - 0.5 * (a + b) * np.log(b + a * x) - betaln(a / 2, b / 2)

    def _cdf(self, x: Array) -> Array:
        return fdtr(self.df1, self.df2, x)

    def _quantile(self, probability: Array) -> Array:
        return fdtri(self.df1, self.df2, probability)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        return random.f(self.df1, self.df2, n)

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


def _logarithm(x: Array) -> Array:
    return np.log(x)[None]


def _mean_derivatives(source: Source, theta: Array) -> tuple[float, Array, Array]:
    """One pass over the values: the mean log-likelihood and its derivatives."""
    value, one, two, first, cross, second = averages(source, partial(_rows, *theta)).mean
    return float(value), np.array([one, two]), np.array([[first, cross], [cross, second]])


def _rows(a: float, b: float, x: Array) -> Array:
    """Value, gradient and Hessian (11, 12, 22) of log p for every value, as rows."""
    total, half = b + a * x, (a + b) / 2
    log_x, log_total = np.log(x), np.log(total)
    value = 0.5 * (a * np.log(a) + b * np.log(b) + (a - 2) * log_x) - half * log_total
    value -= betaln(a / 2, b / 2)
    slope, curve = digamma(half), polygamma(1, half)
    one = 0.5 * (np.log(a) + 1 + log_x - log_total + slope - digamma(a / 2)) - half * x / total
    two = 0.5 * (np.log(b) + 1 - log_total + slope - digamma(b / 2)) - half / total
    square = half / total**2
    first = 0.5 / a - x / total + square * x * x + 0.25 * (curve - polygamma(1, a / 2))
    cross = -0.5 * (1 + x) / total + square * x + 0.25 * curve
    second = 0.5 / b - 1 / total + square + 0.25 * (curve - polygamma(1, b / 2))
    return np.stack([value, one, two, first, cross, second])
