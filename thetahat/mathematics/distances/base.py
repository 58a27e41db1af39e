"""Interface of distances: d(x, y) between rows, and what a search for neighbours may use.

==============  ================================================================================
`Distance`      ``pairwise``
`Termwise`      also a reduced distance r(x, y) = Σ_j |φ(x)_j − φ(y)_j|^p, of which d is an
                increasing function. Searches compare reduced distances of the rows φ(x), and
                convert the few results.
==============  ================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from thetahat import _native
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.validation import as_features, is_sparse
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.remeasured import remeasure
from thetahat.mathematics.parts import Part


class Distance(Part, ABC):
    """Base class of distances; concrete distances are frozen dataclasses."""

    accepts_missing: ClassVar[bool] = False
    """Whether rows may hold NaN."""

    def fitted(self, X: Matrix) -> Distance:
        """Return the distance with everything that is estimated from the training rows."""
        return self

    def pairwise(self, X: Any, Y: Any = None) -> Array:
        """Compute the distances between all rows of X and all rows of Y. Cost: O(n m d).

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            The first rows, one result row for each.
        Y : array-like or sparse of shape (m, d), optional
            The second rows, one result column for each. By default the rows of X.

        Returns
        -------
        array of shape (n, m)
        """
        first = _dense_rows(X, type(self).__name__)
        second = first if Y is None else _dense_rows(Y, type(self).__name__)
        if first.shape[1] != second.shape[1]:
            raise DataError(
                f"{type(self).__name__}: X has {first.shape[1]} columns, but Y has "
                f"{second.shape[1]}. Both must have the same columns."
            )
        require_memory(
            2 * 8 * first.shape[0] * second.shape[0],
            f"{type(self).__name__}: {first.shape[0]} × {second.shape[0]} distances",
            "Use fewer rows at a time, or th.NearestNeighbors, which keeps the nearest only.",
        )
        return self.fitted(second)._between_all(first, second)

    @abstractmethod
    def _between_all(self, X: Array, Y: Array) -> Array:
        """The distances between rows that were checked."""


class Termwise(Distance):
    """A distance that is an increasing function of a sum (or maximum) of terms, one per column."""

    @property
    @abstractmethod
    def order(self) -> float | None:
        """The power p of the terms; inf for their maximum; None counts the columns that differ."""

    @property
    def root_power(self) -> float | None:
        """p of distances (Σ_j |φ(x)_j − φ(y)_j|^p)^{1/p}, whose sums may under- or overflow."""
        return None

    def embedded(self, X: Matrix) -> Matrix:
        """The rows φ(x) between which the terms are computed. Each depends on its own row alone."""
        return X

    @abstractmethod
    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        """Distances from reduced distances."""

    @abstractmethod
    def to_reduced(self, distance: float, n_columns: int) -> float:
        """The reduced distance of a radius."""

    def _between_all(self, X: Array, Y: Array) -> Array:
        first, second = (np.asarray(self.embedded(each), dtype=np.float64) for each in (X, Y))
        reduced = reduced_distances(first, second, self.order)
        found = self.from_reduced(reduced, X.shape[1])
        if self.root_power is not None:
            if found is reduced:
                found = reduced.copy()
            remeasure(found, reduced, first, second, self.root_power)
        return found


def reduced_distances(X: Array, Y: Array, order: float | None) -> Array:
    """Σ_j |x_j − y_j|^p between all rows, in float64. Cost: O(n m d) time, O(n m) memory."""
    found = np.empty((X.shape[0], Y.shape[0]))
    first = np.ascontiguousarray(X, dtype=np.float64)
    second = np.ascontiguousarray(Y.T, dtype=np.float64)
    p = 0.0 if order is None else order
    _native.reduced_distances(p, order is None, first, second, found, n_threads())
    return found


def require_dense(distance: Distance, X: Matrix) -> Array:
    """The rows as an array; sparse rows are refused."""
    if is_sparse(X):
        raise CapabilityError(
            f"Metric {distance.name!r} is not valid for sparse input. Use X.toarray() if the rows "
            "fit in memory, or the Euclidean, Manhattan or cosine distance."
        )
    return np.asarray(X)


def _dense_rows(X: Any, who: str) -> Array:
    if is_sparse(X):
        require_indices(X, who)
        X = X.toarray()
    rows, _ = as_features(X, who=who)
    return rows
