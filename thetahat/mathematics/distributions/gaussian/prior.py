"""Normal priors of linear coefficients, proper in some directions and flat in others.

A prior is stored as β = μ₀ + Lu, with u ~ N(0, 1) where it is proper and u flat elsewhere. So a
covariance may be singular (known coefficients) and a variance may be ∞ (no prior knowledge), and
neither is ever inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

NEGATIVE_ROUNDING = 1e-10
"""Negative eigenvalues smaller than this fraction of the largest are treated as rounding."""


LARGEST = 1e100
"""Largest finite entry of the prior's mean and covariance."""


@dataclass(frozen=True)
class GaussianPrior:
    """μ₀, L and a mask of the flat coordinates u."""

    mean: Array
    root: Array
    flat: Array

    @classmethod
    def of(cls, mean: Any, covariance: Any, n_features: int, who: str) -> GaussianPrior:
        """From a mean (one number, or one per column) and a covariance.

        The covariance is None (flat), one variance, one variance per column (∞ is flat), or a
        matrix.
        """
        centre = numbers(mean, "prior_mean", who)
        if centre.shape not in ((), (n_features,)):
            raise ParameterError(
                f"{who}: prior_mean must be a finite number, or {n_features} finite numbers, one "
                f"for each column, but it has shape {centre.shape}."
            )
        centre = np.broadcast_to(centre, (n_features,)).astype(float)
        given = np.inf if covariance is None else covariance
        spread = numbers(given, "prior_covariance", who, finite=False)
        for name, values in (("prior_mean", centre), ("prior_covariance", spread)):
            largest = np.max(abs(values), where=np.isfinite(values), initial=0.0)
            if largest > LARGEST:
                raise ParameterError(
                    f"{who}: {name} contains {largest:.3g}, but finite entries must not exceed "
                    f"{LARGEST:g}, because products with the data would overflow."
                )
        if spread.shape in ((), (n_features,)):
            return cls._independent(centre, np.broadcast_to(spread, (n_features,)), who)
        if spread.shape == (n_features, n_features):
            return cls._correlated(centre, spread, who)
        raise ParameterError(
            f"{who}: prior_covariance has shape {spread.shape}; give one variance, {n_features} "
            f"variances, or a matrix of shape ({n_features}, {n_features})."
        )

    @classmethod
    def _independent(cls, mean: Array, variance: Array, who: str) -> GaussianPrior:
        if not (variance >= 0).all():
            column = int(np.argmin(variance >= 0))
            raise ParameterError(
                f"{who}: prior_covariance gives column {column} the variance "
                f"{variance[column]:g}; a variance must be ≥ 0 (∞ for a flat prior)."
            )
        flat = np.isinf(variance)
        root = np.diag(np.sqrt(np.where(flat, 1.0, variance)))
        return cls(mean, root, flat)

    @classmethod
    def _correlated(cls, mean: Array, covariance: Array, who: str) -> GaussianPrior:
        if not np.isfinite(covariance).all():
            raise ParameterError(
                f"{who}: the matrix prior_covariance contains infinity. Use finite entries; for "
                "flat priors give one variance per column instead, with ∞ for the flat ones."
            )
        gap = float(np.abs(covariance - covariance.T).max())
        if gap > 1e-8 * float(np.abs(covariance).max()):
            raise ParameterError(
                f"{who}: prior_covariance is not symmetric (entries differ by {gap:.3g}). Use "
                "(S + S.T) / 2 if the difference is only rounding."
            )
        with one_blas_thread():
            values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        if values[0] < -NEGATIVE_ROUNDING * max(abs(values[-1]), abs(values[0])):
            raise ParameterError(
                f"{who}: prior_covariance must be positive semidefinite, but it has the eigenvalue "
                f"{values[0]:.3g}. Check its signs, or increase its diagonal."
            )
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(mean, root, np.zeros(len(values), dtype=bool))

    def with_level(self, mean: float, variance: float) -> GaussianPrior:
        """The same prior with one more, independent coefficient for the intercept."""
        d = len(self.mean)
        root = np.zeros((d + 1, d + 1))
        root[:d, :d], root[d, d] = self.root, np.sqrt(variance)
        return GaussianPrior(np.append(self.mean, mean), root, np.append(self.flat, False))
