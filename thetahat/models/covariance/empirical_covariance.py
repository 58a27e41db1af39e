"""The maximum-likelihood covariance: Σ̂ = (1/n) Σ (x − x̄)(x − x̄)ᵀ."""

from __future__ import annotations

from typing import Any

from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.models.covariance.base import CovarianceModel
from thetahat.models.covariance.gaussian_model import centred_moments, covariance_of


@with_parameters
class EmpiricalCovariance(CovarianceModel):
    """Mean and covariance by maximum likelihood, as a Gaussian density model.

    Formula: μ̂ = x̄ and Σ̂ = (1/n) Σ wᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ with n = Σ wᵢ. With fewer rows than
    columns Σ̂ is singular; use `LedoitWolf` then.

    Cost: O(n d² + d³) time in one pass over the rows, O(d²) memory; rows may be read block by
    block.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.EmpiricalCovariance().fit([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> model.covariance_.round(4).tolist()
    [[2.6667, 1.3333], [1.3333, 2.6667]]
    >>> model.mahalanobis([[2.0, 3.0], [4.0, 3.0]]).round(6).tolist()
    [0.0, 2.0]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EmpiricalCovariance:
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about = centred_moments(source, self.assume_centered)
        self._keep(about.x_mean, covariance_of(about), about.n_rows, source.dtype)
        return self


def empirical_covariance(
    X: Any, *, assume_centered: bool = False, sample_weight: Any = None
) -> Array:
    """Compute the maximum-likelihood covariance matrix.

    Formula: Σ̂ = (1/n) Σ wᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ with n = Σ wᵢ.

    Cost: O(n d²) time in one pass over the rows, O(d²) memory; rows may be read block by block.

    Parameters
    ----------
    X : array-like, sparse matrix or Source of shape (n, d)
        The rows from which the covariance is computed.
    assume_centered : bool, default=False
        Whether the true mean is 0. If True, columns are not centred.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

    Returns
    -------
    covariance : ndarray of shape (d, d)
        The covariance matrix, symmetric and positive semidefinite.

    Examples
    --------
    >>> import thetahat as th
    >>> th.empirical_covariance([[0.0, 1.0], [2.0, 5.0]]).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    source = as_source(X, None, sample_weight, who="empirical_covariance", check_finite=False)
    return covariance_of(centred_moments(source, assume_centered))
