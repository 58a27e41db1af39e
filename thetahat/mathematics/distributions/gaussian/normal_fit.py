"""Fits of the multivariate normal: what they return, and the prior of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import root_of
from thetahat.mathematics.distributions.gaussian.index_sets import as_numbers, require_values
from thetahat.mathematics.distributions.gaussian.natural_normal import require_width
from thetahat.mathematics.linalg.square import as_symmetric


@dataclass(frozen=True)
class NormalFit:
    """A multivariate normal distribution fitted by maximum likelihood, with standard errors.

    Formula: μ̂ = x̄ with standard errors √(σ̂_jj / n), and Σ̂ = (1/n) Σ (x − μ̂)(x − μ̂)ᵀ with standard
    errors √((σ̂_ii σ̂_jj + σ̂_ij²) / n), which hold for Gaussian rows. Cost: O(d²).

    Attributes
    ----------
    distribution : MultivariateNormal
        The distribution with the estimated mean and covariance.
    log_likelihood : float
        The log-likelihood of the rows at the estimates; on the support if Σ̂ is singular.
    n_values : float
        The number of rows, or the sum of their weights.

    Examples
    --------
    >>> import thetahat as th
    >>> fit = th.distributions.MultivariateNormal.fit([[0.0, 1.0], [2.0, 0.0], [4.0, 5.0]])
    >>> fit.distribution.mean.tolist(), fit.mean_standard_errors.round(4).tolist()
    ([2.0, 2.0], [0.9428, 1.2472])
    """

    distribution: Any
    log_likelihood: float
    n_values: float

    @property
    def mean_standard_errors(self) -> Array:
        """Standard errors of the means, √(σ̂_jj / n), of shape (d,)."""
        return np.sqrt(np.diagonal(self.distribution.covariance) / self.n_values)

    @property
    def covariance_standard_errors(self) -> Array:
        """Standard errors of the covariances, √((σ̂_ii σ̂_jj + σ̂_ij²) / n), of shape (d, d)."""
        covariance = self.distribution.covariance
        variances = np.diagonal(covariance)
        return np.sqrt((np.outer(variances, variances) + covariance**2) / self.n_values)

    def mean_intervals(self, level: float = 0.95) -> Array:
        """Compute a confidence interval for each mean: μ̂_j ± t·√(σ̂_jj / (n − 1)). Cost: O(d).

        Parameters
        ----------
        level : float, default=0.95
            The confidence level, between 0 and 1. A larger one gives wider intervals.

        Returns
        -------
        intervals : array of shape (d, 2)
            Lower and upper end per column, from Student's t with n − 1 degrees of freedom, which is
            exact for Gaussian rows.
        """
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ParameterError(f"mean_intervals: level={level!r} must be between 0 and 1.")
        freedom = self.n_values - 1.0
        if not freedom > 0:
            raise DataError(
                f"mean_intervals: an interval needs more than 1 row, but the fit has "
                f"{self.n_values:g}. Fit more rows."
            )
        half = stdtrit(freedom, (1.0 + level) / 2.0)
        half = half * np.sqrt(np.diagonal(self.distribution.covariance) / freedom)
        mean = self.distribution.mean
        return np.column_stack([mean - half, mean + half])


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Prior or posterior of the mean and the covariance of a multivariate normal distribution.

    Formula: μ | Σ ~ N(μ₀, Σ/κ), Σ ~ inverse Wishart(Ψ, ν). After n rows with mean x̄ and scatter S,
    κ' = κ + n, ν' = ν + n, μ₀' = (κμ₀ + n x̄)/κ' and Ψ' = Ψ + S + (κn/κ')(x̄ − μ₀)(x̄ − μ₀)ᵀ. The
    most probable parameters are μ = μ₀ and Σ = Ψ/(ν + d + 2).

    Cost: O(d²) memory; an update costs O(n d²) in one pass over the rows.

    Parameters
    ----------
    mean : array-like of shape (d,)
        The expected mean of every column (μ₀).
    scatter : array-like of shape (d, d)
        Scatter matrix (Ψ), symmetric and positive definite. Larger values expect larger variances.
    mean_weight : float, default=1.0
        Number of rows that the prior mean counts for (κ). Must be positive.
    freedom : float or None, default=None
        Degrees of freedom (ν): the number of rows that the scatter counts for. Must be larger than
        d − 1. None means d + 2.

    Examples
    --------
    >>> import thetahat as th
    >>> prior = th.distributions.NormalInverseWishart([0.0], [[2.0]], mean_weight=2.0)
    >>> after = prior.update([[3.0], [5.0]])
    >>> after.mean.tolist(), after.scatter.tolist(), after.freedom
    ([2.0], [[20.0]], 5.0)
    """

    mean: Array
    scatter: Array
    mean_weight: float = 1.0
    freedom: float | None = None

    def __post_init__(self) -> None:
        who = type(self).__name__
        scatter = as_symmetric(self.scatter, who=f"{who}: scatter")
        d = len(scatter)
        mean = require_values(self.mean, d, f"{who}: mean").copy()
        freedom = d + 2.0 if self.freedom is None else float(as_numbers(self.freedom, who))
        weight = float(as_numbers(self.mean_weight, f"{who}: mean_weight"))
        if not (np.isfinite(weight) and weight > 0):
            raise ParameterError(f"{who}: mean_weight={self.mean_weight!r} must be a number > 0.")
        if not (np.isfinite(freedom) and freedom > d - 1):
            raise ParameterError(f"{who}: freedom={self.freedom!r} must be a number > {d - 1}.")
        if root_of(scatter, who, "scatter").is_singular:
            raise ParameterError(f"{who}: the scatter is singular; it must be positive definite.")
        for array in (mean, scatter):
            array.setflags(write=False)
        values = {"mean": mean, "scatter": scatter, "freedom": freedom, "mean_weight": weight}
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def update(self, X: Any, sample_weight: Any = None) -> NormalInverseWishart:
        """Compute the posterior after some rows. Cost: O(n d²), in one pass over the rows.

        Parameters
        ----------
        X : array-like, table, sparse matrix or Source of shape (n, d)
            The rows that were observed.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        posterior : NormalInverseWishart
            The distribution of the parameters after the rows.
        """
        who = "NormalInverseWishart.update"
        mean, covariance, _, n = estimates(X, sample_weight, who)
        require_width(len(mean), len(self.mean), who)
        away, total = mean - self.mean, self.mean_weight + n
        return NormalInverseWishart(
            mean=self.mean + away * (n / total),
            scatter=self.scatter
            + n * covariance
            + (self.mean_weight * n / total) * np.outer(away, away),
            mean_weight=total,
            freedom=float(self.freedom or 0.0) + n,
        )

    @property
    def most_probable_covariance(self) -> Array:
        """The covariance at the mode, Ψ/(ν + d + 2)."""
        return self.scatter / (float(self.freedom or 0.0) + len(self.mean) + 2.0)


def estimates(
    X: Any, sample_weight: Any, who: str
) -> tuple[Array, Array, tuple[str, ...] | None, float]:
    """Mean, covariance (1/n), names and number of rows, from one pass over the rows."""
    source = as_source(X, None, sample_weight, who=who, check_finite=False)
    about = moments(source)
    if not about.weight > 0:
        raise DataError(f"{who}: all row weights are 0. Give at least 1 row a positive weight.")
    about.require_squares()
    d = about.n_features
    covariance = about.covariance()[:d, :d]
    covariance = (covariance + covariance.T) / 2.0
    return about.x_mean, covariance, source.schema.names or None, about.weight
