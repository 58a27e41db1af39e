"""What robust covariances share: the fit by FastMCD, its correction and its reweighting.

1. The h rows whose covariance has the smallest determinant give a raw location and covariance.
2. The raw covariance is multiplied by the factor that makes it consistent for Gaussian rows:
   α / P(χ²_{d+2} ≤ q_α) with α = h/n and q_α the α-quantile of χ²_d (Croux and Haesbroeck 1999).
3. Rows whose squared distance exceeds the 97.5% quantile of χ²_d are left out; the mean and the
   covariance of the others, corrected with α = 0.975, are the result.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from math import ceil
from typing import Any, ClassVar, cast

import numpy as np
from scipy.special import chdtr, chdtri

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, positive_fraction
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import CovarianceRoot, root_of
from thetahat.models.covariance.base import CovarianceModel
from thetahat.models.covariance.fast_mcd import smallest_determinant
from thetahat.models.covariance.gaussian_model import centred_moments, covariance_of

BEYOND = 0.025
"""Share of Gaussian rows that the reweighting leaves out."""


@with_parameters
class RobustCovariance(CovarianceModel):
    """Location and covariance of the rows that are not outliers.

    Parameters
    ----------
    support_fraction : float or None, default=None
        Share of the rows from which the raw estimate is computed (h/n), more than 0 and at most 1.
        Smaller values resist more outliers; larger values are more accurate without outliers. None
        means (n + d + 1)/(2n), which resists most outliers.
    random_state : int, Generator or None, default=None
        Seed for the random starts of the search. Pass an int for the same result on every call.

    Attributes
    ----------
    raw_location_ : ndarray of shape (d,)
        Mean of the rows of ``raw_support_``.
    raw_covariance_ : ndarray of shape (d, d)
        Covariance of the rows of ``raw_support_``, before the correction.
    raw_support_ : ndarray of shape (n,)
        Whether each row is one of the h rows with the smallest determinant.
    support_ : ndarray of shape (n,)
        Whether each row was used for ``location_`` and ``covariance_``.
    dist_ : ndarray of shape (n,)
        Squared Mahalanobis distances of the training rows, as `mahalanobis` computes them.
    """

    _streams = False
    _instead_of_blocks = "use EmpiricalCovariance, which reads blocks"
    _accepts_sparse = False
    _draws_rows = True
    _remedy = "increase support_fraction if more than half of the rows lie on a plane"
    _ranges: ClassVar[dict[str, Range]] = CovarianceModel._ranges | {
        "support_fraction": none | positive_fraction,
    }

    _: KW_ONLY
    support_fraction: float | None = None
    random_state: RandomState = None

    def _fit_robust(self, X: Any) -> None:
        source = cast(InMemory, self._open(X, supervised=False))
        n = source.n_rows
        if n < 2:
            raise DataError(
                f"{type(self).__name__}: 1 sample found, but at least 2 rows are needed: one row "
                "has no spread."
            )
        whole = centred_moments(source, False)
        root = root_of(covariance_of(whole), type(self).__name__)
        if root.rank == 0:
            raise DataError(
                f"{type(self).__name__}: all {n} rows are equal, so that they have no covariance. "
                "Use rows with at least two different values in a column."
            )
        inside = self._search(source, root, whole.x_mean)
        location, covariance, distance = self._estimates(source, inside)
        self.raw_location_, self.raw_covariance_, self.raw_support_ = location, covariance, inside
        if not inside.all() and not np.diagonal(covariance).any():
            raise DataError(
                "The covariance matrix of the support data is equal to 0, try to increase "
                f"support_fraction: {int(inside.sum())} of {n} rows are equal."
            )
        self.support_, self.dist_ = inside, distance
        self._correct(root.rank)
        self._reweight(source, root.rank)

    def correct_covariance(self, data: Any) -> Array:
        """Correct the raw covariance for Gaussian rows. `fit` calls it already.

        Formula: Σ·c with the raw covariance Σ and c = α / P(χ²_{d+2} ≤ q_α), where α is the share
        of the rows in ``support_`` and q_α the α-quantile of χ²_d. The distances ``dist_`` are
        divided by c. Cost: O(n d² + d³).

        Parameters
        ----------
        data : array-like of shape (n, d)
            The rows of `fit`.

        Returns
        -------
        covariance : ndarray of shape (d, d)
            The corrected raw covariance.
        """
        return self._correct(self._training_rows(data)[1])

    def reweight_covariance(self, data: Any) -> tuple[Array, Array, Array]:
        """Estimate location and covariance from the rows near the centre. `fit` calls it already.

        Formula: mean and covariance of the rows whose distance ``dist_`` is below the 97.5%
        quantile of χ²_d. Sets ``location_``, ``support_``, ``dist_`` and, with the correction for
        α = 0.975, ``covariance_``. Cost: O(n d² + d³).

        Parameters
        ----------
        data : array-like of shape (n, d)
            The rows of `fit`.

        Returns
        -------
        location : ndarray of shape (d,)
            Mean of the rows near the centre.
        covariance : ndarray of shape (d, d)
            Their covariance, before the correction.
        support : ndarray of shape (n,)
            Whether each row is near the centre.
        """
        return self._reweight(*self._training_rows(data))

    def _training_rows(self, data: Any) -> tuple[InMemory, int]:
        """The rows of `fit`, and the rank of their covariance."""
        source = cast(InMemory, self._open_again(data))
        if source.n_rows != len(self.dist_):
            raise DataError(
                f"{type(self).__name__}: data has {source.n_rows} rows, but `fit` had "
                f"{len(self.dist_)}. Pass the rows of `fit`."
            )
        whole = centred_moments(source, False)
        return source, root_of(covariance_of(whole), type(self).__name__).rank

    def _correct(self, rank: int) -> Array:
        factor = consistency_factor(rank, float(self.support_.mean()))
        self.dist_ = self.dist_ / factor
        return self.raw_covariance_ * factor

    def _reweight(self, source: InMemory, rank: int) -> tuple[Array, Array, Array]:
        kept = self.dist_ < chdtri(rank, BEYOND)
        location, covariance, _ = self._estimates(source, kept)
        corrected = covariance * consistency_factor(rank, 1.0 - BEYOND)
        self._keep(location, corrected, source.n_rows, source.dtype)
        self.support_ = kept
        self.dist_ = self._root.squared_distances(source, location, support=False)
        return location, covariance, kept

    def _search(self, source: InMemory, root: CovarianceRoot, mean: Array) -> Array:
        """The h rows of smallest determinant, found in coordinates with covariance I."""
        n, d = source.n_rows, source.n_features
        if self.support_fraction is None:
            h = ceil(0.5 * (n + d + 1))
        else:
            h = max(1, int(self.support_fraction * n))
        with one_blas_thread():
            white = root.solve((np.asarray(source.X, dtype=np.float64) - mean).T).T
            rows = np.ascontiguousarray(white)
            return smallest_determinant(rows, min(n, h), generator(self.random_state))

    def _estimates(self, source: InMemory, kept: Array) -> tuple[Array, Array, Array]:
        """Mean and covariance of some rows, and the distances of all rows."""
        if not kept.any():
            raise DataError(
                f"{type(self).__name__}: no row is close to the raw location. Increase "
                "support_fraction."
            )
        about = centred_moments(source.take(np.flatnonzero(kept)), self.assume_centered)
        covariance = covariance_of(about)
        root = root_of(covariance, type(self).__name__)
        return about.x_mean, covariance, root.squared_distances(source, about.x_mean)


def consistency_factor(d: int, share: float) -> float:
    """The factor that makes the covariance of the central share of Gaussian rows consistent."""
    if share >= 1.0 or d == 0:
        return 1.0
    return share / float(chdtr(d + 2, chdtri(d, 1.0 - share)))
