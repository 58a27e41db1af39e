"""The Beta distribution of a share, the conjugate prior of a probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import betaln, digamma, polygamma

from thetahat.foundation.docstrings import described_like
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.newton import newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    column,
    require_spread,
)
from thetahat.mathematics.distributions.large_shapes import (
    beta_cdf,
    beta_quantile,
    dirichlet_divergence,
    dirichlet_entropy,
    log_beta_kernel,
)
from thetahat.mathematics.parts import number

OPEN_UNIT = Support(
    0, 1, open_ends=True, remedy="Values of exactly 0 or 1 have no finite likelihood; move or "
    "remove them."
)  # fmt: skip


@dataclass(frozen=True)
class Beta(Distribution):
    """The Beta distribution of a number between 0 and 1.

    Formula: p(x) = x^(α−1) (1 − x)^(β−1)/B(α, β) with B(α, β) = Γ(α)Γ(β)/Γ(α + β); mean α/(α + β),
    mode (α − 1)/(α + β − 2) for α, β > 1. As a prior of a probability, α − 1 and β − 1 act like
    earlier successes and failures. Cost: O(1) per number.

    Parameters
    ----------
    alpha : float, default=1.0
        The first shape parameter (α). Larger values move mass to 1. Must be positive.
    beta : float, default=1.0
        The second shape parameter (β). Larger values move mass to 0. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> prior = th.distributions.Beta(2, 2)
    >>> prior.mean, prior.mode
    (0.5, 0.5)
    >>> th.distributions.posterior(prior, [1, 1, 1, 1, 0])
    Beta(alpha=6.0, beta=3.0)
    """

    alpha: float = number(1.0, above=0)
    beta: float = number(1.0, above=0)

    name = "beta"
    support = (0.0, 1.0)

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        total = self.alpha + self.beta
        return (self.alpha / total) * (self.beta / total) / (total + 1)

    @property
    def mode(self) -> float:
        a, b = self.alpha, self.beta
        if a > 1 and b > 1:
            return (a - 1) / (a + b - 2)
        if a == b:  # flat, or a peak at both ends
            return np.nan
        if a < 1 and b < 1:
            return np.nan
        return 0.0 if a <= 1 and b >= 1 else 1.0

    @property
    def entropy(self) -> float:
        return dirichlet_entropy(np.array([self.alpha, self.beta]))

    def _log_density(self, x: Array) -> Array:
        a, b = self.alpha, self.beta
        inner = np.where((x > 0) & (x < 1), x, 0.5)
        inside = log_beta_kernel(a, b, inner, 1 - inner) - np.log(inner) - np.log1p(-inner)
        at_end = np.where(x > 0, _at_end(b, a), _at_end(a, b))
        return np.where((x > 0) & (x < 1), inside, at_end)

    def _cdf(self, x: Array) -> Array:
        return beta_cdf(self.alpha, self.beta, x, 1 - x)

    def _quantile(self, probability: Array) -> Array:
        return beta_quantile(self.alpha, self.beta, probability)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        return random.beta(self.alpha, self.beta, n)

    @classmethod
    @described_like(fit_arguments)
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate α and β by maximum likelihood, with Newton's method. Cost: O(n).

        Formula: the sums of log x and log(1 − x) are sufficient; intervals by the profile
        likelihood.
        """
        who = "Beta.fit"
        found = averages(column(data, sample_weight, who), _statistics, OPEN_UNIT, who)
        require_spread(found, who, "the variance is 0")
        log_x, log_rest, mean, square = found.mean
        variance = max(square - mean * mean, 1e-12 * mean * (1 - mean))
        total = min(max(mean * (1 - mean) / variance - 1, 1e-2), 1e12)
        return newton_fit(
            cls,
            ("alpha", "beta"),
            partial(_derivatives, float(log_x), float(log_rest)),
            np.array([mean * total, (1 - mean) * total]),
            (True, True),
            found.weight,
            who,
        )

    def _divergence(self, other: Self) -> float:
        mine, others = np.array([self.alpha, self.beta]), np.array([other.alpha, other.beta])
        return dirichlet_divergence(mine, others)


def _at_end(here: float, there: float) -> float:
    """The logarithm of the density at an end with the shape `here`."""
    if here == 1:
        return float(np.log(there))
    return float(np.copysign(np.inf, 1 - here))


def _statistics(x: Array) -> Array:
    return np.stack([np.log(x), np.log1p(-x), x, x * x])


def _derivatives(log_x: float, log_rest: float, theta: Array) -> tuple[float, Array, Array]:
    a, b = theta
    value = (a - 1) * log_x + (b - 1) * log_rest - betaln(a, b)
    both = digamma(a + b)
    gradient = np.array([both - digamma(a) + log_x, both - digamma(b) + log_rest])
    hessian = polygamma(1, a + b) - np.diag(polygamma(1, theta))
    return float(value), gradient, hessian
