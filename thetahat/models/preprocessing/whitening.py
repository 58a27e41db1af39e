"""Whitening: rows whose columns are uncorrelated and of variance one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.parameters import at_least, one_of
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.covariance import constant_columns
from thetahat.mathematics.linalg.triangular_factor import TriangularFactor, triangular_factor
from thetahat.mathematics.linalg.whitening import METHODS, whiten_and_colour
from thetahat.models.preprocessing.rowwise import RowwiseTransformer

_WELL_CONDITIONED = 1e-3
"""λ_min/λ_max of the correlations above which squaring X costs no digits that matter."""
_NAMED = 8
"""How many columns an error message names."""


class Whitening(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Centre the rows and turn their covariance into the identity.

    Formula: with Σ = (1/n) Σ (xᵢ − μ)(xᵢ − μ)ᵀ, z = W(x − μ) and WΣWᵀ = I, where W = M⁻¹ for the
    Cholesky factor Σ = MMᵀ, or W = Σ^{-1/2}, the symmetric root, which changes the data least.
    ‖z‖ is the Mahalanobis distance of x either way.

    Cost: O(n d²) time, O(d²) memory beside the data, out of core too. Nearly dependent columns cost
    a second pass (Householder QR instead of products), so that their digits are kept.

    Parameters
    ----------
    method : {"symmetric", "cholesky"}, default="symmetric"
        Which W: symmetric, or lower triangular. Directions without spread (constant or dependent
        columns, fewer rows than columns) go to 0 under the symmetric root, with a warning; a
        Cholesky factor does not exist then.
    regularization : float, default=0.0
        Added to every variance, Σ + τI, so that no direction is without spread. The covariance of
        z is then a little less than I.

    Attributes
    ----------
    mean_ : array of shape (d,)
        μ.
    covariance_ : array of shape (d, d)
        Σ + τI.
    whitening_matrix_ : array of shape (d, d)
        W.
    coloring_matrix_ : array of shape (d, d)
        W⁻¹, for the way back.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0], [4.0, 4.0]])
    >>> Z = th.Whitening(method="symmetric").fit_transform(X)
    >>> np.allclose(th.linalg.covariance(Z), np.eye(2))
    True
    """

    _ranges = {  # noqa: RUF012
        "method": one_of(*METHODS),
        "regularization": at_least(0),
    }

    def __init__(self, *, method: str = "symmetric", regularization: float = 0.0) -> None:
        self.method = method
        self.regularization = regularization

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Whitening:
        """Find μ, Σ and W.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            The rows.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open(X, None, sample_weight, supervised=False, check_finite=False)
        about = moments(source)
        root, nullity = self._root(source, about)
        self.mean_ = about.x_mean
        with one_blas_thread():
            self.covariance_ = root.T @ root
        self.whitening_matrix_, self.coloring_matrix_ = whiten_and_colour(
            root, self.method, nullity
        )
        return self

    def inverse_transform(self, X: Any) -> Array:
        """x = μ + W⁻¹z. Cost: O(n d²)."""
        return self._open_result(X).map_rows(
            lambda block: (block.X @ self.coloring_matrix_.T + self.mean_).astype(
                block.X.dtype, copy=False
            )
        )

    def _transform_block(self, block: Block) -> Array:
        return (block.X - self.mean_) @ self.whitening_matrix_.T

    def _root(self, source: Source, about: Moments) -> tuple[Array, int]:
        """An upper triangle R with RᵀR = Σ + τI, and how many directions have no spread."""
        d, unit = about.n_features, about.unit[: about.n_features]
        tau = self.regularization
        if about.n_rows == 1 and not tau:
            raise DataError(
                "Whitening: n_samples = 1, and one row has no spread. Give more rows, or set "
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
        """How many directions have no spread; says which columns are at fault."""
        with one_blas_thread():
            _, s, Vt = np.linalg.svd(scaled)
        null = s <= rounding * s[0]
        if not null.any():
            return 0
        varying = int(len(s) - null.sum())
        reasons = []
        if constant.any():
            reasons.append(f"constant: {self._labels(constant)}")
        # Columns that a null direction uses depend on each other.
        dependent = (np.abs(Vt[null]) > 1e-6).any(axis=0) & ~constant
        if dependent.any():
            reasons.append(f"linearly dependent: {self._labels(dependent)}")
        message = (
            f"Whitening: the covariance is singular: {about.n_rows} rows vary in {varying} of "
            f"{len(s)} directions (columns {'; '.join(reasons)}). Drop constant columns and those "
            "that follow from others, give more rows than columns, or set a larger regularization."
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
