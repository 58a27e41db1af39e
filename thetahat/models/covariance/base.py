"""What all covariance estimators share: parameters, distances, densities and samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import Range, boolean
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.covariance_root import CovarianceRoot, root_of
from thetahat.mathematics.linalg.square import as_symmetric

NORMS = ("frobenius", "spectral")


@with_parameters
class CovarianceModel(DensityModel):
    """A Gaussian N(location_, covariance_); subclasses estimate the two.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to store the inverse of the covariance as ``precision_``. If False, `get_precision`
        computes it on each call.
    assume_centered : bool, default=False
        Whether the true mean is 0. If True, the location is 0 and columns are not centred.

    Attributes
    ----------
    location_ : ndarray of shape (d,)
        The estimated mean of every column.
    covariance_ : ndarray of shape (d, d)
        The estimated covariance matrix, symmetric and positive semidefinite.
    precision_ : ndarray of shape (d, d) or None
        The inverse of the covariance, or its pseudo-inverse if it is singular. None if
        ``store_precision=False``.
    """

    _streams = True
    _accepts_sparse = True
    _remedy: ClassVar[str] = "shrink the covariance with th.LedoitWolf"
    """What else helps if the covariance is singular."""
    _ranges: ClassVar[dict[str, Range]] = {
        "store_precision": boolean,
        "assume_centered": boolean,
    }

    _: KW_ONLY
    store_precision: bool = True
    assume_centered: bool = False

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Estimate location and covariance.

        Parameters
        ----------
        X : array-like, sparse matrix or Source of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """

    def _keep(self, location: Array, covariance: Array, n_rows: int, dtype: Any) -> None:
        """Store the estimates and a root of the covariance."""
        who = type(self).__name__
        self._root = root_of(covariance, who)
        self.location_, self.covariance_ = location, covariance
        self.precision_ = self._root.precision if self.store_precision else None
        self._dtype = dtype
        if n_rows == 1:
            warn(
                f"{who}: Only one sample available. You may want to reshape your data array: one "
                "row has no spread."
            )
        elif self._root.is_singular:
            warn(
                f"{who}: the covariance is singular: its rank is {self._root.rank}, with "
                f"{len(location)} columns and {n_rows} rows. The density lies on a plane, and "
                "precision_ is a pseudo-inverse. Drop constant and linearly dependent columns, use "
                f"more rows, or {self._remedy}.",
                IllConditionedWarning,
            )

    def _fitted_root(self) -> CovarianceRoot:
        check_is_fitted(self)
        root: CovarianceRoot = self._root
        return root

    def get_precision(self) -> Array:
        """Return the inverse of the covariance (pseudo-inverse if singular). Cost: O(d³) at most.

        Returns
        -------
        precision : ndarray of shape (d, d)
            The precision matrix, symmetric.
        """
        root = self._fitted_root()
        return root.precision if self.precision_ is None else self.precision_

    def mahalanobis(self, X: Any) -> Array:
        """Compute the squared Mahalanobis distance of each row from the location.

        Formula: (x − μ)ᵀΣ⁻¹(x − μ), with the pseudo-inverse if Σ is singular. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like, sparse matrix or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        distances : ndarray of shape (n,)
            The squared distance of every row.
        """
        source = self._open_again(X)
        found = self._fitted_root().squared_distances(source, self.location_, support=False)
        return found.astype(source.dtype, copy=False)

    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of the Gaussian density for each row. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like, sparse matrix or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : ndarray of shape (n,)
            log N(x | location_, covariance_). If the covariance is singular, the density on its
            support (by the pseudo-determinant), and −inf outside of it.
        """
        source = self._open_again(X)
        found = self._fitted_root().log_densities(source, self.location_)
        return found.astype(source.dtype, copy=False)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from the fitted Gaussian. Cost: O(d²) per row.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw. Must be at least 1.
        random_state : int, Generator or None, default=None
            Seed for drawing the rows. Pass an int for the same rows on every call.

        Returns
        -------
        rows : ndarray of shape (n_samples, d)
            The drawn rows.
        """
        root = self._fitted_root()
        require_sample_count(n_samples, type(self).__name__)
        rows = root.sample(int(n_samples), self.location_, generator(random_state))
        return rows.astype(self._dtype, copy=False)

    def error_norm(
        self, comp_cov: Any, norm: str = "frobenius", scaling: bool = True, squared: bool = True
    ) -> float:
        """Compute the distance of another covariance matrix from the estimated one. Cost: O(d³).

        Parameters
        ----------
        comp_cov : array-like of shape (d, d)
            The covariance matrix to compare with.
        norm : {"frobenius", "spectral"}, default="frobenius"
            The norm of the difference A: "frobenius" is √tr(AᵀA), "spectral" the largest singular
            value of A.
        scaling : bool, default=True
            Whether the squared norm is divided by the number of columns.
        squared : bool, default=True
            Whether the squared norm is returned instead of the norm.

        Returns
        -------
        error : float
            The norm of the difference.
        """
        check_is_fitted(self)
        if norm not in NORMS:
            raise NotImplementedError(f"error_norm: norm={norm!r} must be one of {NORMS}.")
        other = as_symmetric(comp_cov, who=f"{type(self).__name__}.error_norm")
        if other.shape != self.covariance_.shape:
            raise DataError(
                f"{type(self).__name__}.error_norm: comp_cov has shape {other.shape}, but the "
                f"covariance has shape {self.covariance_.shape}. They must agree."
            )
        size = np.linalg.norm(other - self.covariance_, "fro" if norm == "frobenius" else 2)
        square = float(size) ** 2 / (len(other) if scaling else 1.0)
        return square if squared else float(np.sqrt(square))


def centred_moments(source: Source, assume_centered: bool) -> Moments:
    """The moments of the rows, about their mean or about 0."""
    found = moments(source)
    found.require_squares()
    return found.about_zero() if assume_centered else found


def covariance_of(about: Moments) -> Array:
    """The covariance (1/W) of X, made exactly symmetric."""
    d = about.n_features
    part = about.covariance()[:d, :d]
    return (part + part.T) / 2.0
