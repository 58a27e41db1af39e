"""The categorical distribution of one of K categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import entr

from thetahat.foundation.arguments import numbers
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.dirichlet import Dirichlet
from thetahat.mathematics.distributions.fitting.intervals import share_intervals
from thetahat.mathematics.distributions.fitting.result import DistributionFit, MapFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    category_weights,
    column,
)

MOST_CATEGORIES = 1_000_000
SUM_ERROR = 1e-8
"""Largest difference from 1 of a sum of probabilities; they are divided by their sum."""


@dataclass(frozen=True)
class Categorical(Distribution):
    """The categorical distribution of the numbers 0, …, K − 1 with given probabilities.

    Formula: P(X = c) = π_c, or Π π_c^{y_c} for a one-hot vector y. The maximum-likelihood estimate
    is the share of every category, π̂_c = N_c/N. Cost: O(K), and O(1) per number.

    Parameters
    ----------
    probabilities : array-like of shape (K,)
        The probabilities of the categories (π), which must not be negative and must sum to 1.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.Categorical.fit([0, 2, 1, 2]).distribution
    Categorical(probabilities=(0.25, 0.25, 0.5))
    >>> round(th.distributions.Categorical([0.5, 0.25, 0.25]).entropy, 6)
    1.039721
    """

    probabilities: tuple[float, ...]

    name = "categorical"
    discrete = True

    def __post_init__(self) -> None:
        given = numbers(self.probabilities, "probabilities", "Categorical")
        if given.ndim != 1 or given.size == 0:
            raise ParameterError(
                f"Categorical: probabilities has shape {given.shape}, but it must be a list of at "
                "least one number, (K,). Give one probability for each category."
            )
        if given.min() < 0:
            raise ParameterError(
                f"Categorical: probabilities[{int(given.argmin())}] = {given.min():g}, but "
                "probabilities must be ≥ 0. Replace it."
            )
        total = float(given.sum())
        if abs(total - 1) > SUM_ERROR:
            raise ParameterError(
                f"Categorical: the probabilities sum to {total:g}, but they must sum to 1. Divide "
                "them by their sum."
            )
        shares = given / total if total != 1 else given
        object.__setattr__(self, "probabilities", tuple(float(each) for each in shares))

    @property
    def n_categories(self) -> int:
        """The number of categories (K)."""
        return len(self.probabilities)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, float(self.n_categories - 1)

    @property
    def mean(self) -> float:
        return float(np.dot(np.arange(self.n_categories), self.probabilities))

    @property
    def variance(self) -> float:
        return float(np.dot((np.arange(self.n_categories) - self.mean) ** 2, self.probabilities))

    @property
    def mode(self) -> float:
        p = np.asarray(self.probabilities)
        return np.nan if (p == p.max()).sum() > 1 else float(p.argmax())

    @property
    def entropy(self) -> float:
        return float(entr(self.probabilities).sum())

    def _log_density(self, x: Array) -> Array:
        return np.log(np.asarray(self.probabilities))[x.astype(np.intp)]

    def _cdf(self, x: Array) -> Array:
        return np.minimum(np.cumsum(self.probabilities), 1.0)[x.astype(np.intp)]

    def _quantile(self, probability: Array) -> Array:
        below = np.cumsum(self.probabilities)
        below[-1] = 1.0
        # The shares of rounding that cumulative sums carry must not move to the next category.
        return np.searchsorted(below, probability - 1e-15).astype(np.float64)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        below = np.cumsum(self.probabilities)
        found = np.searchsorted(below / below[-1], random.random(n), side="right")
        return found.astype(np.int64)

    @classmethod
    @described_like(fit_arguments)
    def fit(
        cls, data: Any, sample_weight: Any = None, *, n_categories: int | None = None
    ) -> DistributionFit:
        """Estimate the probabilities by maximum likelihood. Cost: O(n + K).

        Formula: π̂_c = N_c/N, standard error √(π̂_c(1 − π̂_c)/N); the intervals are the mid-P
        intervals of every category by itself.

        Parameters
        ----------
        n_categories : int, optional
            The number of categories (K). By default one more than the largest value.
        """
        who = "Categorical.fit"
        shares, n = _shares(column(data, sample_weight, who), n_categories, who)
        return DistributionFit(
            distribution=cls(tuple(shares)),
            names=tuple(f"probabilities[{c}]" for c in range(len(shares))),
            estimates=shares,
            standard_errors=np.sqrt(shares * (1 - shares) / n),
            log_likelihood=-n * float(entr(shares).sum()),
            n_values=n,
            find_intervals=partial(share_intervals, np.minimum(n * shares, n), n),
        )

    @classmethod
    def map_fit(
        cls, data: Any, prior: Dirichlet | float = 2.0, sample_weight: Any = None, *,
        n_categories: int | None = None,
    ) -> MapFit:  # fmt: skip
        """Compute the most probable probabilities under a Dirichlet prior. Cost: O(n + K).

        Formula: π̂_c = (N_c + α_c − 1)/(N + Σα − K). With all α = 2 this is add-one smoothing,
        (N_c + 1)/(N + K).

        Parameters
        ----------
        data : array-like of shape (n,) or Source
            The observed categories, whole numbers from 0 on.
        prior : Dirichlet or float, default=2.0
            The prior of the probabilities; a number is the same α for all categories.
        sample_weight : array-like of shape (n,), optional
            Weights of the values. Weight two equals giving the value twice.
        n_categories : int, optional
            The number of categories (K) if the prior is a number. By default one more than the
            largest value.

        Returns
        -------
        MapFit
        """
        after = dirichlet_posterior(prior, data, sample_weight, n_categories, "Categorical.map_fit")
        if np.isnan(after.mode).any():
            raise ParameterError(
                f"Categorical.map_fit: the posterior {after} has no single mode. Use a prior with "
                "all alpha > 1, or the mean of th.distributions.posterior(prior, data)."
            )
        return MapFit(cls(tuple(after.mode)), after)

    def _divergence(self, other: Self) -> float:
        if other.n_categories != self.n_categories:
            raise ParameterError(
                f"kl: the distributions have {self.n_categories} and {other.n_categories} "
                "categories, but must have the same. Add categories of probability 0."
            )
        p, q = np.asarray(self.probabilities), np.asarray(other.probabilities)
        with np.errstate(divide="ignore"):
            return float(np.sum(p[p > 0] * (np.log(p[p > 0]) - np.log(q[p > 0]))))


def _nothing(x: Array) -> Array:
    return np.zeros((1, x.size))


def _shares(source: Any, n_categories: int | None, who: str) -> tuple[Array, float]:
    """The share of every category, and the total weight."""
    if n_categories is not None and (
        not isinstance(n_categories, Integral) or isinstance(n_categories, bool) or n_categories < 1
    ):
        raise ParameterError(f"{who}: n_categories={n_categories!r} must be a whole number ≥ 1.")
    top = np.inf if n_categories is None else float(n_categories - 1)
    remedy = "Code the categories as 0, 1, 2 and so on, or increase n_categories."
    found = averages(source, _nothing, Support(0, top, whole=True, remedy=remedy), who)
    k = int(found.high) + 1 if n_categories is None else int(n_categories)
    if k > MOST_CATEGORIES:
        raise DataError(
            f"{who}: the largest value is {found.high:g}, but at most {MOST_CATEGORIES:,} "
            "categories are possible. Code the categories as 0, 1, 2 and so on."
        )
    weights = category_weights(source, k)
    return weights / weights.sum(), found.weight


def dirichlet_posterior(
    prior: Any, data: Any, sample_weight: Any, n_categories: int | None, who: str
) -> Dirichlet:
    """Dirichlet(α + N), the posterior of the probabilities after categories."""
    source = column(data, sample_weight, who, may_be_empty=True)
    if isinstance(prior, Dirichlet):
        n_categories = len(prior.alpha)
    elif isinstance(prior, int | float | np.integer | np.floating) and not isinstance(prior, bool):
        if source is None and n_categories is None:
            raise ParameterError(
                f"{who}: n_categories is needed, because there are no data and the prior is a "
                "number. Pass n_categories, or a Dirichlet distribution as prior."
            )
    else:
        raise ParameterError(
            f"{who}: prior={prior!r} is not a Dirichlet distribution, which is the conjugate prior "
            "of several probabilities. Use th.distributions.Dirichlet(alpha)."
        )
    if source is None:
        counts = np.zeros(int(n_categories or 0))
    else:
        shares, n = _shares(source, n_categories, who)
        counts = shares * n
    alpha = np.asarray(prior.alpha) if isinstance(prior, Dirichlet) else float(prior)
    return Dirichlet(tuple(alpha + counts))
