"""Euclidean distances after a linear map: standardised columns, and the Mahalanobis distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.extremes import SMALLEST
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import require_dense
from thetahat.mathematics.distances.minkowski import RootOfSquares
from thetahat.mathematics.linalg.whitening import whitening_matrix


@dataclass(frozen=True)
class StandardizedEuclidean(RootOfSquares):
    """The Euclidean distance of standardised columns, √Σ_j (x_j − y_j)²/s_j².

    Every column has the same influence, whatever its units. Cost: O(d) per pair.

    Parameters
    ----------
    variance : sequence of float, optional
        The variance of each column (s_j²). By default it is estimated from the training rows, with
        1/(n − 1); constant columns are then left as they are. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.StandardizedEuclidean([1.0, 16.0]).pairwise([[0.0, 0.0]], [[3.0, 16.0]])
    array([[5.]])
    """

    variance: Sequence[float] | None = None

    name = "seuclidean"
    aliases = ("standardized_euclidean",)

    def __post_init__(self) -> None:
        if self.variance is None:
            return
        given = _numbers(self, "variance", 1)
        if not (given > 0).all():
            raise ParameterError(
                "StandardizedEuclidean: every variance must be positive, but the smallest one is "
                f"{given.min():g}. Drop the columns without spread."
            )
        object.__setattr__(self, "variance", tuple(given.tolist()))

    def fitted(self, X: Matrix) -> StandardizedEuclidean:
        if self.variance is not None:
            _require_width(self, X, len(self.variance))
            return self
        rows = require_dense(self, X)
        variance = np.var(rows.astype(np.float64), axis=0, ddof=min(1, rows.shape[0] - 1))
        if (gone := (variance < SMALLEST) & (rows.min(axis=0) < rows.max(axis=0))).any():
            column = int(np.argmax(gone))
            raise DataError(
                f"StandardizedEuclidean: column {column} of X varies by so little that its "
                f"variance underflows ({variance[column]:.2g}). Rescale the column."
            )
        return StandardizedEuclidean(tuple(np.where(variance > 0, variance, 1.0).tolist()))

    def embedded(self, X: Matrix) -> Array:
        return np.asarray(require_dense(self, X) / np.sqrt(np.asarray(self.variance)))


@dataclass(frozen=True)
class Mahalanobis(RootOfSquares):
    """The Mahalanobis distance √((x − y)ᵀ Σ⁻¹ (x − y)).

    It measures differences in units of the standard deviation in their direction, and does not
    change under linear maps of the columns. Cost: O(d²) per row and O(d) per pair; the rows are
    whitened once, φ(x) = Wx with W Σ Wᵀ = I. A learned metric gives φ(x) = Ax instead of Σ, and
    the distance √((x − y)ᵀ AᵀA (x − y)).

    Parameters
    ----------
    covariance : array-like of shape (d, d), optional
        The covariance matrix (Σ). By default it is estimated from the training rows, with
        1/(n − 1). Must be symmetric and positive definite.
    components : array-like of shape (k, d), optional
        A linear map (A) that is used instead of a covariance matrix, such as ``components_`` of a
        learned metric. It need not be square or of full rank.

    Examples
    --------
    >>> import thetahat as th
    >>> distance = th.distances.Mahalanobis([[4.0, 0.0], [0.0, 1.0]])
    >>> distance.pairwise([[0.0, 0.0]], [[6.0, 4.0]])
    array([[5.]])
    """

    covariance: Any = None
    components: Any = None

    name = "mahalanobis"

    def __post_init__(self) -> None:
        if self.components is not None:
            if self.covariance is not None:
                raise ParameterError(
                    "Mahalanobis: covariance and components are both given, but each of them "
                    "defines the distance. Give one of them."
                )
            rows = _numbers(self, "components", 2)
            object.__setattr__(self, "components", tuple(map(tuple, rows.tolist())))
        if self.covariance is None:
            return
        given = _numbers(self, "covariance", 2)
        # Tuples can be compared and hashed.
        object.__setattr__(self, "covariance", tuple(map(tuple, given.tolist())))
        _ = self._whitening

    @cached_property
    def _whitening(self) -> Array:
        if self.components is not None:
            return np.asarray(self.components)
        return np.asarray(whitening_matrix(self.covariance))

    def fitted(self, X: Matrix) -> Mahalanobis:
        if self.components is not None:
            _require_width(self, X, len(self.components[0]))
            return self
        if self.covariance is not None:
            _require_width(self, X, len(self.covariance))
            return self
        rows = require_dense(self, X).astype(np.float64)
        if rows.shape[0] < 2:
            raise DataError(
                "Mahalanobis: a covariance cannot be estimated from 1 row. Pass covariance=..."
            )
        covariance = np.atleast_2d(np.cov(rows, rowvar=False))
        if 0 < abs(rows).max(initial=0.0) and np.diag(covariance).max() < SMALLEST:
            raise DataError(
                "Mahalanobis: the columns of X vary by so little that their variances underflow "
                f"(up to {np.diag(covariance).max():.2g}). Rescale the columns, and drop those "
                "that are constant."
            )
        return Mahalanobis(covariance)

    def embedded(self, X: Matrix) -> Array:
        # No BLAS: the image of a row must not depend on the rows that come with it.
        rows = np.ascontiguousarray(require_dense(self, X), dtype=np.float64)
        return np.einsum("ij,kj->ik", rows, self._whitening)


def _numbers(distance: Any, name: str, n_dimensions: int) -> Array:
    given = getattr(distance, name)
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim != n_dimensions or not np.isfinite(array).all() or array.size == 0:
        square = "a matrix" if name == "components" else "a square matrix"
        shape = "one number per column" if n_dimensions == 1 else f"{square} of numbers"
        raise ParameterError(
            f"{type(distance).__name__}({name}={given!r}): {name} must be {shape}."
        )
    return array


def _require_width(distance: Any, X: Matrix, width: int) -> None:
    if X.shape[1] != width:
        raise DataError(
            f"{type(distance).__name__} was made for {width} columns, but X has {X.shape[1]}. "
            "They must agree."
        )
