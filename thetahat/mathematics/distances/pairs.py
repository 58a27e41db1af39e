"""Distances that do not depend on x − y alone: relative differences, rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, require_dense


def _between(kind: str, X: Array, Y: Array) -> Array:
    out = np.empty((X.shape[0], Y.shape[0]))
    first = np.ascontiguousarray(X, dtype=np.float64)
    second = np.ascontiguousarray(Y.T, dtype=np.float64)
    _native.pair_distances(kind, first, second, out, n_threads())
    return out


@dataclass(frozen=True)
class Canberra(Distance):
    """The Canberra distance Σ_j |x_j − y_j|/(|x_j| + |y_j|).

    Every column adds at most 1, so that differences of small numbers count as much as those of
    large ones. Columns in which both rows are 0 add nothing. Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Canberra().pairwise([[1.0, 100.0]], [[3.0, 300.0]])
    array([[1.]])
    """

    name = "canberra"

    def _between_all(self, X: Array, Y: Array) -> Array:
        return _between(self.name, X, Y)


@dataclass(frozen=True)
class BrayCurtis(Distance):
    """The Bray-Curtis distance Σ_j |x_j − y_j|/Σ_j |x_j + y_j|.

    It compares compositions, such as counts of species; for rows that are not negative it lies
    between 0 and 1. It is 0 for equal rows, and infinite for x = −y. Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.BrayCurtis().pairwise([[6.0, 7.0, 4.0]], [[10.0, 0.0, 6.0]]).round(3)
    array([[0.394]])
    """

    name = "braycurtis"

    def _between_all(self, X: Array, Y: Array) -> Array:
        return _between(self.name, X, Y)


@dataclass(frozen=True)
class NanEuclidean(Distance):
    """The Euclidean distance over the columns present in both rows, scaled up to all columns.

    Formula: d(x, y) = √((d/|P|) Σ_{j ∈ P} (x_j − y_j)²), where P are the columns in which neither
    row is NaN; infinite if there are none. Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> nan = float("nan")
    >>> th.distances.NanEuclidean().pairwise([[3.0, nan, nan, 6.0]], [[1.0, nan, 4.0, 5.0]])
    array([[3.16227766]])
    """

    name = "nan_euclidean"
    accepts_missing = True

    def fitted(self, X: Matrix) -> NanEuclidean:
        require_dense(self, X)
        return self

    def _between_all(self, X: Array, Y: Array) -> Array:
        found = _between(self.name, X, Y)
        found[np.isnan(found)] = np.inf
        return found
