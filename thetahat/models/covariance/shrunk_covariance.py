"""A covariance shrunk by a given amount: (1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.validation import as_numbers
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, fraction
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.covariance_shrinkage import shrunk
from thetahat.models.covariance.base import CovarianceModel
from thetahat.models.covariance.gaussian_model import centred_moments, covariance_of


@with_parameters
class ShrunkCovariance(CovarianceModel):
    """Covariance by maximum likelihood, shrunk towards a multiple of the identity.

    Formula: Σ = (1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I. Shrinking moves the eigenvalues towards their mean, so
    that Σ is well-conditioned even with few rows. `LedoitWolf` and `OAS` choose ρ from the rows.

    Cost: O(n d² + d³) time in one pass over the rows, O(d²) memory; rows may be read block by
    block.

    Parameters
    ----------
    shrinkage : float, default=0.1
        Share of the identity in the covariance (ρ). 0 is maximum likelihood; 1 is the mean variance
        times the identity. Must lie from 0 to 1.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.ShrunkCovariance(shrinkage=0.5).fit([[0.0, 1.0], [2.0, 5.0]])
    >>> model.covariance_.tolist()
    [[1.75, 1.0], [1.0, 3.25]]
    """

    _: KW_ONLY
    shrinkage: float = 0.1

    _ranges: ClassVar[dict[str, Range]] = CovarianceModel._ranges | {"shrinkage": fraction}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ShrunkCovariance:
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about = centred_moments(source, self.assume_centered)
        covariance = shrunk(covariance_of(about), self.shrinkage)
        self._keep(about.x_mean, covariance, about.n_rows, source.dtype)
        return self


def shrunk_covariance(emp_cov: Any, shrinkage: float = 0.1) -> Array:
    """Shrink a covariance matrix, or a stack of them, towards a multiple of the identity.

    Formula: (1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I. Cost: O(d²) per matrix.

    Parameters
    ----------
    emp_cov : array-like of shape (..., d, d)
        The covariance matrix or matrices to shrink.
    shrinkage : float, default=0.1
        Share of the identity in the result (ρ), from 0 to 1.

    Returns
    -------
    covariance : ndarray of shape (..., d, d)
        The shrunk covariance matrix or matrices.

    Examples
    --------
    >>> import thetahat as th
    >>> th.shrunk_covariance([[1.0, 2.0], [2.0, 4.0]], shrinkage=0.5).tolist()
    [[1.75, 1.0], [1.0, 3.25]]
    """
    matrix = as_numbers(emp_cov, "emp_cov", "shrunk_covariance").astype(np.float64, copy=False)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] == 0:
        raise DataError(
            f"shrunk_covariance: emp_cov has shape {matrix.shape}; it must be a square matrix, or "
            "a stack of square matrices."
        )
    if not np.isfinite(matrix).all():
        raise DataError("shrunk_covariance: all entries of emp_cov must be finite.")
    if not fraction.holds(shrinkage):
        raise ParameterError(
            f"shrunk_covariance: shrinkage={shrinkage!r} must be {fraction.words}."
        )
    return shrunk(matrix, shrinkage)
