"""Shrinkage of Ledoit and Wolf: the amount that minimises the expected squared error."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments
from thetahat.data.summaries.norm_moments import norm_moments
from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, check_value, whole
from thetahat.foundation.types import Array
from thetahat.mathematics.covariance_shrinkage import ledoit_wolf_intensity, shrunk
from thetahat.models.covariance.base import CovarianceModel
from thetahat.models.covariance.gaussian_model import covariance_of


@with_parameters
class LedoitWolf(CovarianceModel):
    """Covariance shrunk towards a multiple of the identity, by the amount of Ledoit and Wolf.

    Formula: Σ = (1 − ρ) Σ̂ + ρ μ I with μ = tr Σ̂ / d and ρ = min(β, δ)/δ, where δ = ‖Σ̂ − μI‖²/d and
    β = (Σ wᵢ‖xᵢ − x̄‖⁴/n − ‖Σ̂‖²)/(d n) estimates the squared error of Σ̂. With many rows the result
    is the best of all such combinations, whatever the distribution of the rows.

    Cost: O(n d² + d³) time in one pass over the rows, O(d²) memory; rows may be read block by
    block.

    Parameters
    ----------
    block_size : int, default=1000
        Has no effect: the sums are computed in blocks of rows that fit into the cache. Accepted for
        compatibility with scikit-learn.

    Attributes
    ----------
    shrinkage_ : float
        The estimated share of the identity in the covariance (ρ), from 0 to 1.

    References
    ----------
    O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
    Journal of Multivariate Analysis 88 (2004).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LedoitWolf().fit([[0.0, 1.0, 0.0], [2.0, 5.0, 1.0], [1.0, 0.0, 3.0]])
    >>> round(model.shrinkage_, 4)
    0.5417
    """

    _: KW_ONLY
    block_size: int = 1000

    _ranges: ClassVar[dict[str, Range]] = CovarianceModel._ranges | {"block_size": whole(1)}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LedoitWolf:
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about, self.shrinkage_ = _about_and_intensity(source, self.assume_centered)
        covariance = shrunk(covariance_of(about), self.shrinkage_)
        self._keep(about.x_mean, covariance, about.n_rows, source.dtype)
        return self


def _about_and_intensity(source: Source, assume_centered: bool) -> tuple[Moments, float]:
    """The moments of the rows, and how much to shrink their covariance."""
    found = norm_moments(source)
    found.moments.require_squares()
    if assume_centered:
        found = found.about_zero()
    covariance, fourth = found.in_one_unit()
    return found.moments, ledoit_wolf_intensity(covariance, fourth, found.moments.weight)


def ledoit_wolf(
    X: Any, *, assume_centered: bool = False, block_size: int = 1000, sample_weight: Any = None
) -> tuple[Array, float]:
    """Compute the covariance of Ledoit and Wolf, and its shrinkage.

    Formula: Σ = (1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I, with ρ as in `LedoitWolf`.

    Cost: O(n d²) time in one pass over the rows, O(d²) memory; rows may be read block by block.

    Parameters
    ----------
    X : array-like, sparse matrix or Source of shape (n, d)
        The rows from which the covariance is computed.
    assume_centered : bool, default=False
        Whether the true mean is 0. If True, columns are not centred.
    block_size : int, default=1000
        Has no effect: the sums are computed in blocks of rows that fit into the cache. Accepted for
        compatibility with scikit-learn.
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
    >>> covariance, shrinkage = th.ledoit_wolf([[0.0, 1.0], [2.0, 5.0], [1.0, 0.0]])
    >>> covariance.round(4).tolist(), round(shrinkage, 4)
    ([[1.4872, 0.7863], [0.7863, 3.8462]], 0.4103)
    """
    check_value(block_size, whole(1), "block_size", "ledoit_wolf")
    source = as_source(X, None, sample_weight, who="ledoit_wolf", check_finite=False)
    about, intensity = _about_and_intensity(source, assume_centered)
    return shrunk(covariance_of(about), intensity), intensity
