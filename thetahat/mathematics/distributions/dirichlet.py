"""The Dirichlet distribution of K shares, the conjugate prior of categorical probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import digamma, gammaln, polygamma, xlogy

from thetahat.data.arrays import to_host
from thetahat.data.source import Block
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.validation import as_source
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import require_size
from thetahat.mathematics.distributions.beta import Beta
from thetahat.mathematics.distributions.fitting.newton import newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit
from thetahat.mathematics.distributions.fitting.rows import Averages
from thetahat.mathematics.distributions.large_shapes import (
    dirichlet_divergence,
    dirichlet_entropy,
    log_dirichlet_kernel,
)
from thetahat.mathematics.parts import Part

LARGE_SUM = 1e4
"""Σα from which the density is computed without differences of large numbers."""
SUM_ERROR = 1e-6
"""Largest difference from 1 of a row of shares."""


@dataclass(frozen=True)
class Dirichlet(Part):
    """The Dirichlet distribution of K shares that sum to 1.

    Formula: p(x) = Γ(Σα)/Π Γ(α_c)·Π x_c^{α_c−1}; mean α/Σα, mode (α − 1)/(Σα − K) for all α > 1.
    Every single share has the distribution Beta(α_c, Σα − α_c). Cost: O(K) per row.

    Parameters
    ----------
    alpha : array-like of shape (K,)
        The parameters of the shares (α), two or more positive numbers. As a prior, α_c − 1 acts
        like earlier values of category c.

    Examples
    --------
    >>> import thetahat as th
    >>> prior = th.distributions.Dirichlet([2, 2, 2])
    >>> th.distributions.posterior(prior, [0, 2, 1, 2]).mean.round(3)
    array([0.3, 0.3, 0.4])
    """

    alpha: tuple[float, ...]

    name = "dirichlet"

    def __post_init__(self) -> None:
        given = numbers(self.alpha, "alpha", "Dirichlet")
        if given.ndim != 1 or given.size < 2:
            raise ParameterError(
                f"Dirichlet: alpha has shape {given.shape}, but it must be a list of at least two "
                "numbers, (K,). Give one number for each category."
            )
        if given.min() <= 0:
            raise ParameterError(
                f"Dirichlet: alpha[{int(given.argmin())}] = {given.min():g}, but all must be > 0. "
                "Replace it by a positive number."
            )
        if np.isinf(sum(given.tolist())):
            raise ParameterError(
                "Dirichlet: the sum of alpha is larger than any 64-bit number. Divide alpha by the "
                "number of categories; such shares are constant either way."
            )
        object.__setattr__(self, "alpha", tuple(float(each) for each in given))

    @property
    def mean(self) -> Array:
        """The expected shares, α/Σα."""
        return np.asarray(self.alpha) / sum(self.alpha)

    @property
    def variance(self) -> Array:
        """The variance of every share."""
        return np.array([self.marginal(c).variance for c in range(len(self.alpha))])

    @property
    def covariance(self) -> Array:
        """The covariance matrix of the shares, which is singular because they sum to 1."""
        mean = self.mean
        return (np.diag(mean) - np.outer(mean, mean)) / (sum(self.alpha) + 1)

    @property
    def mode(self) -> Array:
        """The most probable shares; NaN unless all parameters are greater than 1."""
        alpha = np.asarray(self.alpha)
        if alpha.min() <= 1:
            return np.full(alpha.shape, np.nan)
        return (alpha - 1) / (alpha - 1).sum()

    @property
    def entropy(self) -> float:
        """The differential entropy −E log p(X) in nats, which may be negative."""
        return dirichlet_entropy(np.asarray(self.alpha))

    def marginal(self, category: int) -> Beta:
        """The Beta distribution of one share. Cost: O(K).

        Parameters
        ----------
        category : int
            The number of the category, from 0 to K − 1.

        Returns
        -------
        Beta
        """
        if isinstance(category, bool) or category not in range(len(self.alpha)):
            raise ParameterError(
                f"Dirichlet.marginal: category={category!r} must be a whole number from 0 to "
                f"{len(self.alpha) - 1}."
            )
        own = self.alpha[category]
        return Beta(own, float(np.sum(np.delete(self.alpha, category))))

    def intervals(self, level: float = 0.95) -> Array:
        """Compute the central interval of every share. Cost: O(K).

        Parameters
        ----------
        level : float, default=0.95
            The probability of each interval, between 0 and 1.

        Returns
        -------
        array of shape (K, 2)
        """
        return np.array([self.marginal(c).interval(level) for c in range(len(self.alpha))])

    def log_density(self, x: Any) -> Array:
        """Compute log p(x) of rows of shares. Cost: O(K) per row.

        Parameters
        ----------
        x : array-like of shape (n, K) or (K,)
            Rows of shares. The result is −∞ where a share is negative or they do not sum to 1.

        Returns
        -------
        array of shape (n,), or a number
        """
        values = numbers(x, "x", "Dirichlet", finite=False)
        alpha = np.asarray(self.alpha)
        if values.ndim not in (1, 2) or values.shape[-1] != alpha.size:
            raise ParameterError(
                f"Dirichlet.log_density: x has shape {values.shape}, but every row must have "
                f"{alpha.size} shares."
            )
        inside = (values >= 0).all(axis=-1) & (abs(values.sum(axis=-1) - 1) <= SUM_ERROR)
        with np.errstate(invalid="ignore"):
            logs = xlogy(alpha - 1, values).sum(axis=-1) - _log_beta(alpha)
            if alpha.sum() > LARGE_SUM:
                positive = (values > 0).all(axis=-1)
                shares = np.where(values > 0, values, 1 / alpha.size)
                kernel = log_dirichlet_kernel(alpha, shares) - np.log(shares).sum(axis=-1)
                logs = np.where(positive, kernel, logs)
        return np.asarray(np.where(inside, logs, -np.inf))

    def density(self, x: Any) -> Array:
        """Compute p(x) of rows of shares. Cost: O(K) per row.

        Parameters
        ----------
        x : array-like of shape (n, K) or (K,)
            Rows of shares. The result is 0 where a share is negative or they do not sum to 1.

        Returns
        -------
        array of shape (n,), or a number
        """
        return np.exp(self.log_density(x))

    def sample(self, n: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows of shares. Cost: O(n K).

        Parameters
        ----------
        n : int, default=1
            The number of rows to draw. Must not be negative.
        random_state : int, Generator, RandomState or None
            Seed or generator of the draws. The same seed gives the same rows.

        Returns
        -------
        array of shape (n, K)
        """
        require_size(n, "Dirichlet")
        return generator(random_state).dirichlet(self.alpha, int(n))

    @classmethod
    def fit(cls, data: Any, sample_weight: Any = None) -> DistributionFit:
        """Estimate α by maximum likelihood, with Newton's method. Cost: O(n K).

        Formula: the sums of log x_c are sufficient; intervals by the profile likelihood.

        Parameters
        ----------
        data : array-like of shape (n, K) or Source
            Rows of positive shares that sum to 1.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows. Weight two equals giving the row twice.

        Returns
        -------
        DistributionFit
        """
        who = "Dirichlet.fit"
        source = as_source(data, None, sample_weight, who=who)
        found: Averages = source.reduce(_summarise)
        k = source.n_features
        if k < 2:
            raise DataError(f"{who}: data has 1 column, but shares need at least two.")
        if found.outside:
            raise DataError(
                f"{who}: every row must have positive shares that sum to 1, but row "
                f"{found.first[0]} sums to {found.first[1]:g} or has a share ≤ 0. Divide every row "
                "by its sum, and replace shares of 0."
            )
        logs, mean, square = np.split(found.mean, [k, 2 * k])
        variance = square - mean * mean
        if (variance <= 1e-14).all():
            raise DataError(
                f"{who}: at least two different rows are needed, but all {found.n_rows:,} rows are "
                "equal, so that the likelihood has no maximum. Give more rows."
            )
        widest = int(variance.argmax())
        total = max(mean[widest] * (1 - mean[widest]) / variance[widest] - 1, 1e-2)
        return newton_fit(
            lambda *alpha: cls(alpha),
            tuple(f"alpha[{c}]" for c in range(k)),
            partial(_derivatives, logs),
            mean * total,
            (True,) * k,
            found.weight,
            who,
        )

    def _divergence(self, other: Self) -> float:
        if len(other.alpha) != len(self.alpha):
            raise ParameterError(
                f"kl: the distributions have {len(self.alpha)} and {len(other.alpha)} shares, but "
                "must have the same number."
            )
        a, b = np.asarray(self.alpha), np.asarray(other.alpha)
        return dirichlet_divergence(a, b)


def _log_beta(alpha: Array) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def _derivatives(logs: Array, alpha: Array) -> tuple[float, Array, Array]:
    total = alpha.sum()
    value = float(((alpha - 1) * logs).sum() - _log_beta(alpha))
    gradient = digamma(total) - digamma(alpha) + logs
    return value, gradient, polygamma(1, total) - np.diag(polygamma(1, alpha))


def _summarise(block: Block) -> Averages:
    x = np.asarray(dense_rows(block), dtype=np.float64)
    weight = np.asarray(to_host(block.row_weights), dtype=np.float64)
    used = weight > 0
    sums = x.sum(axis=1)
    wrong = used & ~((x > 0).all(axis=1) & (abs(sums - 1) <= SUM_ERROR))
    nothing = np.zeros(3 * x.shape[1])
    if wrong.any():
        row = int(np.argmax(wrong))
        first = (block.start + row, float(sums[row]))
        return Averages(0, 0.0, nothing, np.inf, -np.inf, int(wrong.sum()), first)
    x, weight = x[used], weight[used]
    total = float(weight.sum())
    if total == 0:
        return Averages(0, 0.0, nothing, np.inf, -np.inf)
    mean = (weight / total) @ np.hstack([np.log(x), x, x * x])
    return Averages(len(x), total, mean, float(x.min()), float(x.max()))
