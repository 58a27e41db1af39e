"""Distances between rows of yes and no, from the numbers of columns in which they agree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import DataConversionWarning

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, require_dense

EXACT_IN_SINGLE = 1 << 24
"""Counts below this number are exact in float32."""


class Boolean(Distance):
    """Base class of distances between rows of yes (any number but 0) and no (0)."""

    def fitted(self, X: Matrix) -> Boolean:
        rows = require_dense(self, X)
        if not ((rows == 0) | (rows == 1)).all():
            warn(
                f"Data was converted to boolean for metric {self.name}: X holds other numbers than "
                "0 and 1, and every value other than 0 is treated as True.",
                DataConversionWarning,
            )
        return self

    @abstractmethod
    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        """Distances from the numbers of columns in which both are yes, or only one is."""

    def _between_all(self, X: Array, Y: Array) -> Array:
        dtype = np.float32 if X.shape[1] < EXACT_IN_SINGLE else np.float64
        first, second = (X != 0).astype(dtype), (Y != 0).astype(dtype)
        both = (first @ second.T).astype(np.float64)
        unequal = np.add.outer(_counts(first), _counts(second)) - 2 * both
        return self._from_counts(both, unequal, X.shape[1])


def _counts(rows: Array) -> Array:
    return np.asarray(rows.sum(axis=1, dtype=np.float64))


def _share(part: Array, whole: Array) -> Array:
    """part/whole, and 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


@dataclass(frozen=True)
class Jaccard(Boolean):
    """The Jaccard distance: of the columns in which a row is yes, the share where only one is.

    Formula: d(x, y) = b/(a + b), with a columns in which both are yes and b in which only one is.
    Two rows without any yes have distance 0. Cost: O(d) per pair, by matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Jaccard().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]]).round(3)
    array([[0.667]])
    """

    name = "jaccard"

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        return _share(unequal, both + unequal)


@dataclass(frozen=True)
class Dice(Boolean):
    """The Dice distance: as `Jaccard`, but columns in which both are yes count twice.

    Formula: d(x, y) = b/(2a + b), with a columns in which both are yes and b in which only one is.
    Cost: O(d) per pair, by matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Dice().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([[0.5]])
    """

    name = "dice"

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        return _share(unequal, 2 * both + unequal)


@dataclass(frozen=True)
class RogersTanimoto(Boolean):
    """The Rogers-Tanimoto distance: the share of unequal columns, each of which counts twice.

    Formula: d(x, y) = 2b/(d + b), with b columns in which the rows differ. Cost: O(d) per pair, by
    matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.RogersTanimoto().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]]).round(3)
    array([[0.667]])
    """

    name = "rogerstanimoto"
    aliases = ("sokalmichener",)

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        return 2 * unequal / (n_columns + unequal)


@dataclass(frozen=True)
class RussellRao(Boolean):
    """The Russell-Rao distance: the share of columns in which not both rows are yes.

    Formula: d(x, y) = (d − a)/d, with a columns in which both are yes. The distance from a row to
    itself is not 0 in general. Cost: O(d) per pair, by matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.RussellRao().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([[0.75]])
    """

    name = "russellrao"

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        return (n_columns - both) / n_columns


@dataclass(frozen=True)
class SokalSneath(Boolean):
    """The Sokal-Sneath distance: as `Jaccard`, but columns in which only one is yes count twice.

    Formula: d(x, y) = 2b/(a + 2b), with a columns in which both are yes and b in which only one is.
    Cost: O(d) per pair, by matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.SokalSneath().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([[0.8]])
    """

    name = "sokalsneath"

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        return _share(2 * unequal, both + 2 * unequal)


@dataclass(frozen=True)
class Yule(Boolean):
    """The Yule distance 2·b·c/(a·e + b·c) of the four counts of yes and no.

    a columns are yes in both rows and e in none, b only in the first and c only in the second. It
    is 0 if b·c = 0. Cost: O(d) per pair, by matrix products.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Yule().pairwise([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([[1.]])
    """

    name = "yule"

    def _between_all(self, X: Array, Y: Array) -> Array:
        first, second = (X != 0).astype(np.float64), (Y != 0).astype(np.float64)
        both = first @ second.T
        only_first = _counts(first)[:, None] - both
        only_second = _counts(second)[None, :] - both
        neither = X.shape[1] - both - only_first - only_second
        crossed = only_first * only_second
        return _share(2 * crossed, both * neither + crossed)

    def _from_counts(self, both: Array, unequal: Array, n_columns: int) -> Array:
        raise NotImplementedError  # it needs the two kinds of unequal columns apart
