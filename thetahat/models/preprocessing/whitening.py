"""Whitening: rows with uncorrelated columns of variance 1."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, at_least, one_of
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.covariance import constant_columns
from thetahat.mathematics.linalg.triangular_factor import TriangularFactor, triangular_factor
from thetahat.mathematics.linalg.whitening import METHODS, whiten_and_colour
from thetahat.models.preprocessing.rowwise import RowwiseTransformer

_WELL_CONDITIONED = 1e-3
"""λ_min/λ_max of the correlations above which XᵀX is accurate enough."""
_NAMED = 8
"""Maximum number of columns listed in an error message."""


@with_parameters
class Whitening(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Whitening: centre the rows and transform their covariance to the identity.

    Formula: with Σ = (1/n) Σ (xᵢ − μ)(xᵢ − μ)ᵀ, z = W(x − μ) and WΣWᵀ = I, where W = M⁻¹ for the
    Cholesky factor Σ = MMᵀ, or W = Σ^{-1/2}, the symmetric root, which changes the data least. In
    both cases ‖z‖ is the Mahalanobis distance of x.

    Cost: O(n d²) time and O(d²) memory besides the data, also block by block. Nearly dependent
    columns need a second pass (Householder QR), which keeps the accuracy.

    Parameters
    ----------
    method : {"symmetric", "cholesky"}, default="symmetric"
        Form of W: symmetric, or lower triangular. For a singular covariance (constant or dependent
        columns, fewer rows than columns), "symmetric" maps the directions without variance to 0 and
        warns, while "cholesky" raises an error.
    regularization : float, default=0.0
        Number added to every variance, Σ + τI (τ). Positive values avoid singular covariances; the
        variances of z are then slightly below 1. Must be at least 0.

    Attributes
    ----------
    mean_ : array of shape (d,)
        Mean of each column (μ).
    covariance_ : array of shape (d, d)
        The covariance matrix, including the regularisation (Σ + τI).
    whitening_matrix_ : array of shape (d, d)
        Matrix that whitens centred rows (W).
    coloring_matrix_ : array of shape (d, d)
        Inverse of the whitening matrix (W⁻¹), used by `inverse_transform`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0], [4.0, 4.0]])
    >>> Z = th.Whitening(method="symmetric").fit_transform(X)
    >>> np.allclose(th.linalg.covariance(Z), np.eye(2))
    True
    """

    _: KW_ONLY
    method: str = "symmetric"
    regularization: float = 0.0

    _ranges = {  # noqa: RUF012
        "method": one_of(*METHODS),
        "regularization": at_least(0, LARGEST_FACTOR),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Whitening:
        """Compute the mean, the covariance and the whitening matrix. Cost: O(n d²)."""
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about = moments(source)
        about.require_squares()
        root, nullity = self._root(source, about)
        self.mean_ = about.x_mean
        with one_blas_thread():
            self.covariance_ = root.T @ root
        self.whitening_matrix_, self.coloring_matrix_ = whiten_and_colour(
            root, self.method, nullity
        )
        return self

    def inverse_transform(self, X: Any) -> Array:
        """Transform back to the original rows, x = μ + W⁻¹z. Cost: O(n d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Transformed rows, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            The rows in their original units.
        """
        return self._open_result(X).map_rows(
            lambda block: (block.X @ self.coloring_matrix_.T + self.mean_).astype(
                block.X.dtype, copy=False
            )
        )

    def _transform_block(self, block: Block) -> Array:
        return (block.X - self.mean_) @ self.whitening_matrix_.T

    def _root(self, source: Source, about: Moments) -> tuple[Array, int]:
        """Upper triangular R with RᵀR = Σ + τI, and the number of directions without variance."""
        d, unit = about.n_features, about.unit[: about.n_features]
        tau = self.regularization
        if about.n_rows == 1 and not tau:
            raise DataError(
                "Whitening: n_samples = 1, but a single row has no variance. Use more rows, or set "
                "regularization > 0."
            )
        matrix = about.scatter[:d, :d] / about.weight + np.diag(tau / unit**2)
        scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
        constant = constant_columns(about) if not tau else scale == 0
        scale = np.where(constant, 1.0, scale)
        with one_blas_thread():
            scaled = matrix / scale / scale[:, None]
            values = np.linalg.eigvalsh(scaled)
            if not constant.any() and values[0] > _WELL_CONDITIONED * values[-1]:
                return np.linalg.cholesky(scaled, upper=True) * (scale * unit), 0
        factor = triangular_factor(source, about, intercept=True).padded()[1 : 1 + d, 1 : 1 + d]
        factor = factor / np.sqrt(about.weight)
        if tau:
            ridge = TriangularFactor(np.diag(np.sqrt(tau) / unit))
            factor = TriangularFactor(factor).merge(ridge).R
        rounding = 10 * d * float(np.finfo(source.dtype).eps)
        scaled = np.where(constant, 0.0, factor / scale)
        return factor * unit, self._nullity(scaled, constant, rounding, about)

    def _nullity(self, scaled: Array, constant: Array, rounding: float, about: Moments) -> int:
        """Number of directions without variance; reports the columns that cause them."""
        with one_blas_thread():
            _, s, Vt = np.linalg.svd(scaled)
        null = s <= rounding * s[0]
        if not null.any():
            return 0
        varying = int(len(s) - null.sum())
        reasons = []
        if constant.any():
            reasons.append(f"constant: {self._labels(constant)}")
        # Columns with entries in a null direction are linearly dependent.
        dependent = (np.abs(Vt[null]) > 1e-6).any(axis=0) & ~constant
        if dependent.any():
            reasons.append(f"linearly dependent: {self._labels(dependent)}")
        message = (
            f"Whitening: the covariance is singular: {about.n_rows} rows vary in {varying} of "
            f"{len(s)} directions (columns {'; '.join(reasons)}). Drop constant and linearly "
            "dependent columns, use more rows than columns, or increase regularization."
        )
        if self.method == "cholesky":
            raise DataError(message)
        warn(message, IllConditionedWarning)
        return int(null.sum())

    def _labels(self, which: Array) -> str:
        chosen = np.flatnonzero(which)
        names = ", ".join(self._label(column) for column in chosen[:_NAMED])
        rest = len(chosen) - _NAMED
        return names + (f" and {rest} more" if rest > 0 else "")
