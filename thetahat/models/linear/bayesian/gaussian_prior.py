"""Normal priors of linear coefficients: proper in some directions, flat in others.

A prior is kept as β = μ₀ + Lu with u ~ N(0, 1) where it is proper and u flat where it is not, so
that a covariance may be singular (coefficients that are known) and a variance may be ∞ (those of
which nothing is known), and neither is ever inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

ROUNDING = 1e-10
"""Negative eigenvalues smaller than this share of the largest are rounding."""


@dataclass(frozen=True)
class GaussianPrior:
    """μ₀, L and which of the u are flat."""

    mean: Array
    root: Array
    flat: Array

    @classmethod
    def of(cls, mean: Any, covariance: Any, n_features: int, who: str) -> GaussianPrior:
        """From a mean (a number, or one per column) and a covariance.

        The covariance is None (flat), a variance, one variance per column (∞ is flat), or a matrix.
        """
        centre = numbers(mean, "prior_mean", who)
        if centre.shape not in ((), (n_features,)):
            raise ParameterError(
                f"{who}: prior_mean of shape {centre.shape} must be a finite number, or "
                f"{n_features} of them, one for each column."
            )
        centre = np.broadcast_to(centre, (n_features,)).astype(float)
        given = np.inf if covariance is None else covariance
        spread = numbers(given, "prior_covariance", who, finite=False)
        if spread.shape in ((), (n_features,)):
            return cls._independent(centre, np.broadcast_to(spread, (n_features,)), who)
        if spread.shape == (n_features, n_features):
            return cls._correlated(centre, spread, who)
        raise ParameterError(
            f"{who}: prior_covariance has shape {spread.shape}; give a variance, {n_features} "
            f"variances, or a matrix of shape ({n_features}, {n_features})."
        )

    @classmethod
    def _independent(cls, mean: Array, variance: Array, who: str) -> GaussianPrior:
        if not (variance >= 0).all():
            column = int(np.argmin(variance >= 0))
            raise ParameterError(
                f"{who}: prior_covariance gives column {column} the variance "
                f"{variance[column]:g}; a variance is ≥ 0 (∞ says that nothing is known)."
            )
        flat = np.isinf(variance)
        root = np.diag(np.sqrt(np.where(flat, 1.0, variance)))
        return cls(mean, root, flat)

    @classmethod
    def _correlated(cls, mean: Array, covariance: Array, who: str) -> GaussianPrior:
        if not np.isfinite(covariance).all():
            raise ParameterError(
                f"{who}: the matrix prior_covariance holds infinity. Give finite covariances; for "
                "flat directions give variances alone, with ∞ among them."
            )
        gap = float(np.abs(covariance - covariance.T).max())
        if gap > 1e-8 * float(np.abs(covariance).max()):
            raise ParameterError(
                f"{who}: prior_covariance is not symmetric (entries differ by {gap:.3g}). Use "
                "(S + S.T) / 2 if the difference has no meaning."
            )
        with one_blas_thread():
            values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        if values[0] < -ROUNDING * max(abs(values[-1]), abs(values[0])):
            raise ParameterError(
                f"{who}: prior_covariance has the eigenvalue {values[0]:.3g}; a covariance is "
                "positive semidefinite. Check its signs, or raise its diagonal."
            )
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(mean, root, np.zeros(len(values), dtype=bool))

    def with_level(self, mean: float, variance: float) -> GaussianPrior:
        """The same with one more, independent coefficient: an intercept with a prior of its own."""
        d = len(self.mean)
        root = np.zeros((d + 1, d + 1))
        root[:d, :d], root[d, d] = self.root, np.sqrt(variance)
        return GaussianPrior(np.append(self.mean, mean), root, np.append(self.flat, False))
