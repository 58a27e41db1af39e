"""Models of a precision matrix: distances, densities and samples of the Gaussian they define.

p(x) = (2π)^(−d/2) · det(Σ)^(−½) · exp(−½ (x − μ)ᵀΣ⁻¹(x − μ))
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows, moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import Range, boolean, check_value, one_of
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_square
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place


class Fitted:
    """The fitted attributes, in a class without parameters."""

    location_: Array
    covariance_: Array
    precision_: Any


@with_parameters
class PrecisionModel(Fitted, DensityModel):
    """A Gaussian N(μ, Q⁻¹) whose precision matrix is estimated; a subclass defines `fit`.

    Parameters
    ----------
    assume_centered : bool, default=False
        If True, the mean is known to be zero: the covariance is computed about zero, and
        ``location_`` is zero. If False, the mean of the rows is subtracted first.

    Attributes
    ----------
    location_ : ndarray of shape (d,)
        Estimated mean of each column (μ̂); zero with ``assume_centered=True``.
    covariance_ : ndarray of shape (d, d)
        Estimated covariance matrix of the columns (Σ̂).
    precision_ : ndarray of shape (d, d)
        Estimated precision matrix, the inverse of the covariance matrix (Q̂).
    """

    _: KW_ONLY
    assume_centered: bool = False

    _streams = True
    _accepts_sparse = True
    _ranges: ClassVar[dict[str, Range]] = {"assume_centered": boolean}

    def _about_rows(self, source: Source) -> tuple[Array, Array]:
        """Mean and covariance (divided by Σw) of the rows, exactly symmetric."""
        about = moments(source)
        if not about.weight > 0:
            raise DataError(
                f"{type(self).__name__}: all rows have weight 0. At least one weight must be "
                "positive."
            )
        if self.assume_centered:
            about = about.about_zero()
        about.require_squares()
        d = about.n_features
        covariance = about.covariance()[:d, :d]
        return about.x_mean, (covariance + covariance.T) / 2.0

    def get_precision(self) -> Array:
        """Return the precision matrix, the inverse of the covariance matrix. Cost: O(1).

        Returns
        -------
        precision : ndarray of shape (d, d)
            The precision matrix (Q̂).
        """
        check_is_fitted(self)
        return self.precision_

    def mahalanobis(self, X: Any) -> Array:
        """Compute the squared Mahalanobis distance of each row from the mean.

        Formula: (x − μ)ᵀ Q (x − μ). Cost: O(n d²).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        distances : ndarray of shape (n,)
            Squared distance of each row, at least 0.
        """
        source = self._open_again(X)
        precision = self.get_precision()

        def distances(block: Block) -> Array:
            gap = dense_rows(block) - self.location_
            squares = np.einsum("ij,ij->i", np.dot(gap, precision), gap)
            return np.maximum(squares, 0.0)

        return source.map_rows(distances).astype(source.dtype, copy=False)

    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of the Gaussian density for each row.

        Formula: log p(x) = −½ ((x − μ)ᵀ Q (x − μ) − log det Q + d·log 2π). Cost: O(n d² + d³).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithm of p(x) for each row.
        """
        distances = self.mahalanobis(X)
        offset = self._log_determinant() - len(self.location_) * math.log(2.0 * math.pi)
        return 0.5 * (offset - distances)

    def _log_determinant(self) -> float:
        """log det Q, −inf if the precision is singular."""
        factor = np.array(self.get_precision(), dtype=np.float64, order="C")
        if not cholesky_in_place(factor):
            return -math.inf
        return 2.0 * float(np.log(np.einsum("ii->i", factor)).sum())

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from the Gaussian N(μ, Σ).

        Formula: x = μ + Az with AAᵀ = Σ and z standard normal. Cost: O(n_samples·d² + d³).

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
        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__)
        normal = generator(random_state).standard_normal((int(n_samples), len(self.location_)))
        with one_blas_thread():
            values, vectors = scipy_linalg().eigh(self.covariance_)
            return self.location_ + np.dot(
                normal * np.sqrt(np.maximum(values, 0.0)), np.ascontiguousarray(vectors.T)
            )

    def error_norm(
        self, comp_cov: Any, norm: str = "frobenius", scaling: bool = True, squared: bool = True
    ) -> float:
        """Compute the distance of the covariance from another one, such as the true one.

        Formula: ‖Σ̂ − Σ‖² / d, with the Frobenius norm √Σ a²_ij or the spectral norm, which is the
        largest singular value. Cost: O(d²), for the spectral norm O(d³).

        Parameters
        ----------
        comp_cov : array-like of shape (d, d)
            The covariance matrix to compare with.
        norm : {"frobenius", "spectral"}, default="frobenius"
            Norm of the difference of the two matrices.
        scaling : bool, default=True
            Whether to divide the squared norm by the number of columns.
        squared : bool, default=True
            Whether to return the squared norm instead of the norm.

        Returns
        -------
        distance : float
            The distance between the two matrices, at least 0.
        """
        check_is_fitted(self)
        who = f"{type(self).__name__}.error_norm"
        check_value(norm, one_of("frobenius", "spectral"), "norm", who)
        other = as_square(comp_cov, who=who)
        if other.shape != self.covariance_.shape:
            raise DataError(
                f"{who}: comp_cov has shape {other.shape}, but the covariance has shape "
                f"{self.covariance_.shape}. Pass a matrix with the same columns."
            )
        error = other - self.covariance_
        if norm == "frobenius":
            found = float(np.einsum("ij,ij->", error, error))
        else:
            with one_blas_thread():
                found = float(np.linalg.norm(error, 2)) ** 2
        if scaling:
            found /= len(error)
        return found if squared else math.sqrt(found)
