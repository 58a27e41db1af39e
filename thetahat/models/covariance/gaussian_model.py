"""A Gaussian with an estimated mean and covariance: distances, densities and samples.

p(x) = (2π)^(−d/2) · det(Σ)^(−½) · exp(−½ (x − μ)ᵀΣ⁻¹(x − μ))
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import Range, boolean
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import CovarianceRoot, root_of
from thetahat.mathematics.linalg.square import as_symmetric

NORMS = ("frobenius", "spectral")


class Fitted:
    """The fitted attributes, in a class without parameters."""

    location_: Array
    covariance_: Array
    precision_: Any


@with_parameters
class GaussianModel(Fitted, DensityModel):
    """A Gaussian N(location_, covariance_) of the rows.

    Parameters
    ----------
    assume_centered : bool, default=False
        Whether the true mean is 0. If True, the location is 0 and columns are not centred.

    Attributes
    ----------
    location_ : ndarray of shape (d,)
        The estimated mean of every column.
    covariance_ : ndarray of shape (d, d)
        The estimated covariance matrix, symmetric and positive semidefinite.
    precision_ : ndarray of shape (d, d)
        The inverse of the covariance matrix.
    """

    _parametric = True
    _streams = True
    _accepts_sparse = True
    _ranges: ClassVar[dict[str, Range]] = {"assume_centered": boolean}
    # Another name of the rows is not metadata to be routed.
    __metadata_request__score: ClassVar[dict[str, str]] = {"X_test": UNUSED}

    _: KW_ONLY
    assume_centered: bool = False

    def _fitted_root(self) -> CovarianceRoot:
        check_is_fitted(self)
        root: CovarianceRoot | None = self.__dict__.get("_root")
        return root_of(self.covariance_, type(self).__name__) if root is None else root

    def _gaussian_components(self) -> tuple[Array, Array, Array] | None:
        """p(x) as a mixture of one component with a triangular factor; None if it is singular."""
        return self._fitted_root().as_component(self.location_)

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

    def score(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, X_test: Any = None
    ) -> float:
        """Compute the mean log-likelihood per row: Σ wᵢ log p(xᵢ) / Σ wᵢ. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like, sparse matrix or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`. A `Source` is read block by block
            and contains the weights.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        X_test : array-like, sparse matrix or Source of shape (n, d), optional
            The rows under the name that scikit-learn gives them, instead of `X`.

        Returns
        -------
        score : float
            The mean log-likelihood; −inf if a row of positive weight has density 0.
        """
        if (X is None) == (X_test is None):
            raise ParameterError(
                f"{type(self).__name__}.score takes the rows either as X or as X_test, but "
                f"{'neither' if X is None else 'both'} was given. Call score(X)."
            )
        return super().score(X if X_test is None else X_test, y, sample_weight)

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
        require_sample_count(n_samples, type(self).__name__, self.n_features_in_)
        rows = root.sample(int(n_samples), self.location_, generator(random_state))
        return rows.astype(self.__dict__.get("_dtype", rows.dtype), copy=False)

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
        check_is_fitted(self, "covariance_")
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
