"""Oracle-approximating shrinkage (OAS) of a covariance, for Gaussian rows."""

from __future__ import annotations

from typing import Any

from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments
from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.mathematics.covariance_shrinkage import oas_intensity, shrunk
from thetahat.models.covariance.base import CovarianceModel
from thetahat.models.covariance.gaussian_model import centred_moments, covariance_of


@with_parameters
class OAS(CovarianceModel):
    """Covariance shrunk towards a multiple of the identity, by oracle-approximating shrinkage.

    Formula: Σ = (1 − ρ) Σ̂ + ρ μ I with μ = tr Σ̂ / d and
    ρ = min(1, (‖Σ̂‖²/d² + μ²) / ((n + 1)(‖Σ̂‖²/d² − μ²/d))). If the rows are Gaussian, the expected
    squared error is smaller than that of `LedoitWolf`, above all with few rows.

    Cost: O(n d² + d³) time in one pass over the rows, O(d²) memory; rows may be read block by
    block.

    Attributes
    ----------
    shrinkage_ : float
        The estimated share of the identity in the covariance (ρ), from 0 to 1.

    References
    ----------
    Y. Chen, A. Wiesel, Y. C. Eldar and A. O. Hero, "Shrinkage algorithms for MMSE covariance
    estimation", IEEE Transactions on Signal Processing 58 (2010).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.OAS().fit([[0.0, 0.0], [2.0, 5.0], [1.0, 2.0], [3.0, 7.0]])
    >>> round(model.shrinkage_, 4)
    0.8021
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OAS:
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about, covariance, self.shrinkage_ = _shrunk(source, self.assume_centered)
        self._keep(about.x_mean, covariance, about.n_rows, source.dtype)
        return self


def _shrunk(source: Source, assume_centered: bool) -> tuple[Moments, Array, float]:
    """The moments of the rows, the shrunk covariance and its intensity."""
    about = centred_moments(source, assume_centered)
    covariance = covariance_of(about)
    intensity = oas_intensity(covariance, about.weight)
    return about, shrunk(covariance, intensity), intensity


def oas(X: Any, *, assume_centered: bool = False, sample_weight: Any = None) -> tuple[Array, float]:
    """Compute the covariance of oracle-approximating shrinkage, and its shrinkage.

    Formula: Σ = (1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I, with ρ as in `OAS`.

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
        The shrunk covariance matrix.
    shrinkage : float
        The share of the identity (ρ).

    Examples
    --------
    >>> import thetahat as th
    >>> covariance, shrinkage = th.oas([[0.0, 0.0], [2.0, 5.0], [1.0, 2.0], [3.0, 7.0]])
    >>> covariance.round(5).tolist(), round(shrinkage, 4)
    ([[3.65625, 0.59375], [0.59375, 4.84375]], 0.8021)
    """
    source = as_source(X, None, sample_weight, who="oas", check_finite=False)
    _, covariance, intensity = _shrunk(source, assume_centered)
    return covariance, intensity
