"""The public kd-tree: rows and a distance, searched without an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import as_features
from thetahat.foundation.checked_value import CheckedValue
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import named
from thetahat.mathematics.distances.base import Distance, Termwise


@dataclass(frozen=True, eq=False)
class KDTree(CheckedValue):
    """A kd-tree: rows divided again and again at a value of one column.

    A search descends into the half of the query first, then ascends, and visits the other half
    only if its box is nearer than the farthest neighbour found so far.

    Formula: the k rows with the smallest d(q, x_i), the same as by comparing all rows; of two rows
    at the same distance, the one with the smaller number comes first.

    Cost: construction O(n log n · d); a query O(log n) on average for few columns, up to O(n d) for
    many (about 10 or more). Memory O(n d).

    Parameters
    ----------
    data : array-like of shape (n, d)
        The rows that are searched. A copy is kept.
    leaf_size : int, default=16
        Largest number of rows that are not divided further. It has an influence on speed, not on
        results. Must be at least 1.
    metric : str, Distance or None, default="euclidean"
        The distance: a name or a value of ``th.distances`` that is a sum or maximum over columns.
    axis : {"widest", "alternating"}, default="widest"
        The column at which rows are divided: the one in which they extend most, or each column in
        turn.
    pivot : {"median", "random"}, default="median"
        The value at which rows are divided: their median, which gives a balanced tree, or that of
        a random row.
    random_state : int, default=0
        Seed for ``pivot="random"``, a whole number that is not negative.

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.KDTree([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> tree.query([[0.0, 1.0]], k=2)
    (array([[1.        , 4.24264069]]), array([[0, 1]]))
    >>> tree.query_radius([[0.0, 1.0]], r=1.0)[0].tolist()
    [0]
    """

    data: Any
    leaf_size: int = 16
    metric: Any = "euclidean"
    axis: str = "widest"
    pivot: str = "median"
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("axis", ("widest", "alternating")), ("pivot", ("median", "random"))):
            if getattr(self, name) not in allowed:
                raise ParameterError(
                    f"KDTree: {name}={getattr(self, name)!r} must be one of {allowed}."
                )
        for name, low in (("leaf_size", 1), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
                raise ParameterError(f"KDTree: {name}={value!r} must be a whole number ≥ {low}.")
        rows = self._checked(self.data).copy()
        metric = named(self.metric)
        if not isinstance(metric, Termwise) or metric.order is None:
            raise CapabilityError(
                f"KDTree: {metric!r} is not a sum or maximum over columns, so that boxes exclude "
                "no rows. Use NearestNeighbors(algorithm='brute', metric=...)."
            )
        object.__setattr__(self, "data", rows)
        object.__setattr__(self, "metric", metric.fitted(rows))
        _ = self._compiled

    @cached_property
    def _compiled(self) -> _native.NearestRows:
        order = self._distance.order
        assert order is not None
        return _native.NearestRows(
            np.ascontiguousarray(self._distance.embedded(self.data), dtype=np.float64),
            int(self.leaf_size),
            order,
            False,
            self.axis == "alternating",
            self.pivot == "random",
            int(self.random_state) % 2**64,
            n_threads(),
        )

    @property
    def depth(self) -> int:
        """Number of edges from the root to the deepest leaf."""
        return int(self._compiled.depth)

    def query(self, X: Any, k: int = 1) -> tuple[Array, Array]:
        """Find the k nearest rows of every query. Cost: O(log n) per query on average.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        k : int, default=1
            Number of neighbours. Must be at most the number of rows.

        Returns
        -------
        distance : array of shape (m, k)
            Distances, the smallest first.
        row : array of shape (m, k)
            Numbers of the rows.
        """
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ParameterError(f"KDTree.query: k={k!r} must be a whole number ≥ 1.")
        if k > self.data.shape[0]:
            raise DataError(
                f"KDTree.query: k={k} neighbours were requested, but the tree holds "
                f"{self.data.shape[0]} rows. Use a smaller k."
            )
        queries = self._queries(X)
        distance = np.empty((queries.shape[0], int(k)))
        row = np.empty((queries.shape[0], int(k)), dtype=np.int64)
        self._compiled.nearest(queries, distance, row, n_threads())
        return self._distance.from_reduced(distance, self.data.shape[1]), row

    def query_radius(self, X: Any, r: float) -> Array:
        """Find all rows within a radius of every query. Cost: O(log n + found) per query.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        r : float
            The radius. Rows at exactly this distance belong to the result. Must not be negative.

        Returns
        -------
        rows : array of shape (m,) of arrays
            Numbers of the rows of each query, in ascending order.
        """
        if not r >= 0:
            raise ParameterError(f"KDTree.query_radius: r={r!r} must be a number ≥ 0.")
        queries = self._queries(X)
        reduced = self._distance.to_reduced(float(r), self.data.shape[1])
        counts, row, _ = self._compiled.within(queries, reduced, False, n_threads())
        found = np.empty(queries.shape[0], dtype=object)
        found[:] = np.split(row, np.cumsum(counts)[:-1])
        return found

    @property
    def _distance(self) -> Termwise:
        metric: Distance = self.metric
        assert isinstance(metric, Termwise)
        return metric

    def _queries(self, X: Any) -> Array:
        queries = self._checked(X)
        if queries.shape[1] != self.data.shape[1]:
            raise DataError(
                f"KDTree: the queries have {queries.shape[1]} columns, but the rows of the tree "
                f"have {self.data.shape[1]}. They must agree."
            )
        return np.ascontiguousarray(self._distance.embedded(queries), dtype=np.float64)

    @staticmethod
    def _checked(X: Any) -> Array:
        rows, _ = as_features(X, who="KDTree", accept_sparse=False)
        if not np.isfinite(rows).all():
            at = np.argwhere(~np.isfinite(rows))[0].tolist()
            raise DataError(
                f"KDTree: row {at[0]}, column {at[1]} is {rows[at[0], at[1]]}; a distance needs "
                "finite numbers. Drop that row or replace the value."
            )
        return np.asarray(rows)
