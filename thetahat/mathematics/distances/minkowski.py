"""Minkowski distances (Σ_j |x_j − y_j|^p)^{1/p}, their limits, and the share of other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Termwise, require_dense
from thetahat.mathematics.parts import number


class RootOfSquares(Termwise):
    """Base class of Euclidean distances between the rows φ(x)."""

    @property
    def order(self) -> float:
        return 2.0

    @property
    def root_power(self) -> float:
        return 2.0

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return np.sqrt(reduced)

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return distance * distance


@dataclass(frozen=True)
class Euclidean(RootOfSquares):
    """The Euclidean distance √Σ_j (x_j − y_j)². Cost: O(d) per pair.

    The columns should have comparable units; see `StandardizedEuclidean` and `Mahalanobis`.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Euclidean().pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    name = "euclidean"
    aliases = ("l2",)


@dataclass(frozen=True)
class SquaredEuclidean(Termwise):
    """The squared Euclidean distance Σ_j (x_j − y_j)². Cost: O(d) per pair.

    It has the same neighbours as the Euclidean distance, but it is not a metric: the triangle
    inequality does not hold.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.SquaredEuclidean().pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[25.]])
    """

    name = "sqeuclidean"
    aliases = ("squared_euclidean",)

    @property
    def order(self) -> float:
        return 2.0

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return distance


@dataclass(frozen=True)
class Manhattan(Termwise):
    """The Manhattan distance Σ_j |x_j − y_j|. Cost: O(d) per pair.

    A large difference in one column has less influence than under the Euclidean distance.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Manhattan().pairwise([[0.0, 0.0]], [[3.0, -4.0]])
    array([[7.]])
    """

    name = "manhattan"
    aliases = ("cityblock", "l1", "taxicab")

    @property
    def order(self) -> float:
        return 1.0

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return distance


@dataclass(frozen=True)
class Chebyshev(Termwise):
    """The Chebyshev distance max_j |x_j − y_j|. Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Chebyshev().pairwise([[0.0, 0.0]], [[3.0, -4.0]])
    array([[4.]])
    """

    name = "chebyshev"
    aliases = ("infinity", "max")

    @property
    def order(self) -> float:
        return inf

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return distance


@dataclass(frozen=True)
class Minkowski(Termwise):
    """The Minkowski distance (Σ_j w_j·|x_j − y_j|^p)^{1/p}. Cost: O(d) per pair.

    p = 1 is the Manhattan distance, p = 2 the Euclidean distance, and p → ∞ gives the Chebyshev
    distance. These three are faster to compute than other p.

    Parameters
    ----------
    p : float, default=2.0
        The power of the differences. Larger values give more influence to the column with the
        largest difference. Must be positive and at most 100, beyond which powers of small
        differences vanish; use `Chebyshev` for the limit. Below 1 the triangle inequality does not
        hold.
    w : sequence of float, optional
        The weight of each column. Larger values give the column more influence. By default all are
        1. Must not be negative, and one at least must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Minkowski(p=3).pairwise([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[4.4979]])
    """

    p: float = number(2.0, above=0, at_most=100)
    w: Sequence[float] | None = None

    name = "minkowski"
    aliases = ("p",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.w is None:
            return
        try:
            weights = np.asarray(self.w, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.ndim != 1 or not (np.isfinite(weights) & (weights >= 0)).all():
            weights = np.empty(0)
        if not weights.any():
            raise ParameterError(
                f"Minkowski(w={self.w!r}): w must hold one finite number ≥ 0 per column, and one "
                "of them at least must be positive."
            )
        object.__setattr__(self, "w", tuple(weights.tolist()))

    @property
    def order(self) -> float:
        return self.p

    @property
    def root_power(self) -> float | None:
        return None if self.p == 1 else self.p

    def fitted(self, X: Matrix) -> Minkowski:
        if self.w is not None and len(self.w) != X.shape[1]:
            raise DataError(
                f"Minkowski: w holds {len(self.w)} weights, but X has {X.shape[1]} columns. Give "
                "one weight per column."
            )
        return self

    def embedded(self, X: Matrix) -> Matrix:
        if self.w is None:
            return X
        return np.asarray(require_dense(self, X) * np.asarray(self.w) ** (1 / self.p))

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        if self.p == 1:
            return reduced
        with np.errstate(over="ignore"):
            return np.sqrt(reduced) if self.p == 2 else reduced ** (1 / self.p)

    def to_reduced(self, distance: float, n_columns: int) -> float:
        try:
            return float(distance**self.p)
        except OverflowError:
            return inf


@dataclass(frozen=True)
class Hamming(Termwise):
    """The Hamming distance: the share of columns in which two rows differ. Cost: O(d) per pair.

    Formula: d(x, y) = (1/d) Σ_j 1[x_j ≠ y_j]. For columns of codes, such as categories.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Hamming().pairwise([[1, 2, 3, 4]], [[1, 0, 3, 0]])
    array([[0.5]])
    """

    name = "hamming"

    @property
    def order(self) -> None:
        return None

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced / n_columns

    def to_reduced(self, distance: float, n_columns: int) -> float:
        # The largest number of columns whose share does not exceed the radius.
        return float(np.floor(distance * n_columns * (1 + 1e-15)))
