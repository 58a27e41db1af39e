"""The public trees: rows and a distance, searched without an estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thetahat.data.validation import as_features
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.kernel_sums import KernelDensities
from thetahat.models.neighbors.search.metric import named_distance

OF_COLUMNS = [
    "euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity",
    "sqeuclidean", "seuclidean", "mahalanobis", "cosine", "correlation", "haversine",
]  # fmt: skip
"""Distances that are sums or maxima over columns, perhaps of mapped rows."""
OF_ROWS = [
    "hamming", "canberra", "braycurtis", "jaccard", "dice", "rogerstanimoto", "russellrao",
    "sokalsneath", "yule", "pyfunc",
]  # fmt: skip


class SearchTree(KernelDensities, CheckedValue):
    """Shared by the trees: the queries."""

    data: Any
    leaf_size: int
    metric: Any
    valid_metrics: ClassVar[list[str]]
    """Names of distances that the tree accepts."""

    @property
    def _index(self) -> NeighborIndex:
        raise NotImplementedError

    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
    ) -> Any:
        """Find the k nearest rows of every query. Cost: O(log n) per query on average.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        k : int, default=1
            Number of neighbours. Must be at most the number of rows.
        return_distance : bool, default=True
            Whether to return the distances as well.
        dualtree : bool, default=False
            Has no effect. Accepted for compatibility with scikit-learn.
        breadth_first : bool, default=False
            Has no effect. Accepted for compatibility with scikit-learn.
        sort_results : bool, default=True
            Has no effect, because results are always sorted. Accepted for compatibility with
            scikit-learn.

        Returns
        -------
        distance : array of shape (m, k)
            Distances, the smallest first. Only if ``return_distance=True``.
        row : array of shape (m, k)
            Numbers of the rows.
        """
        who = f"{type(self).__name__}.query"
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ParameterError(f"{who}: k={k!r} must be a whole number ≥ 1.")
        if k > self.data.shape[0]:
            raise DataError(
                f"{who}: k={k} neighbours were requested, but the tree holds {self.data.shape[0]} "
                "rows. Use a smaller k."
            )
        found = self._index.nearest(self._queries(X), int(k))
        return (found.distance, found.row) if return_distance else found.row

    def query_radius(
        self,
        X: Any,
        r: Any,
        return_distance: bool = False,
        count_only: bool = False,
        sort_results: bool = False,
    ) -> Any:
        """Find all rows within a radius of every query. Cost: O(log n + found) per query.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        r : float or array-like of shape (m,)
            The radius, or one for each query. Rows at exactly this distance belong to the result.
            Must not be negative.
        return_distance : bool, default=False
            Whether to return the distances as well.
        count_only : bool, default=False
            Whether to return the numbers of neighbours only.
        sort_results : bool, default=False
            Whether to order neighbours by distance; needs ``return_distance=True``. If False, they
            are ordered by row number.

        Returns
        -------
        rows : array of shape (m,) of arrays
            Numbers of the rows of each query; their counts if ``count_only=True``.
        distances : array of shape (m,) of arrays
            Distances of these rows. Only if ``return_distance=True``.
        """
        who = f"{type(self).__name__}.query_radius"
        if return_distance and count_only:
            raise ParameterError(f"{who}: count_only and return_distance cannot both be true.")
        if sort_results and not return_distance:
            raise ParameterError(f"{who}: return_distance must be True if sort_results is True.")
        queries = self._queries(X)
        radius = _radii(r, queries.shape[0], who)
        if count_only:
            return self._index.count_within(queries, radius)
        found = self._index.within(queries, radius, bool(sort_results))
        ends = np.cumsum(found.counts)[:-1]
        rows, distances = np.empty((2, queries.shape[0]), dtype=object)
        rows[:] = np.split(found.row, ends)
        if not return_distance:
            return rows
        distances[:] = np.split(found.distance, ends)
        return rows, distances

    def two_point_correlation(self, X: Any, r: Any, dualtree: bool = False) -> Array:
        """Count the pairs of a query and a row within each distance.

        Cost: one count of the neighbours of all queries for each distance.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        r : float or array-like
            Distances. Pairs at exactly this distance are counted.
        dualtree : bool, default=False
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        counts : array of shape (n_distances,)
            Number of pairs within each distance.
        """
        queries = self._queries(X)
        radii = np.atleast_1d(np.asarray(r, dtype=np.float64)).ravel()
        _radii(radii, radii.shape[0], f"{type(self).__name__}.two_point_correlation")
        return np.array([self._index.count_within(queries, each).sum() for each in radii])

    def _queries(self, X: Any) -> Array:
        queries = _checked(X, self._index.distance, type(self).__name__)
        if queries.shape[1] != self.data.shape[1]:
            raise DataError(
                f"{type(self).__name__}: the queries have {queries.shape[1]} columns, but the rows "
                f"of the tree have {self.data.shape[1]}. They must agree."
            )
        return queries


@dataclass(frozen=True, eq=False)
class KDTree(SearchTree):
    """A kd-tree: rows divided repeatedly at a value of one column.

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
    p : float, default=2
        Power of the Minkowski distance, used with ``metric="minkowski"``. Must be positive.
    w : sequence of float, optional
        Weight of each column, used with ``metric="minkowski"``. Must not be negative.

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
    p: float = field(default=2, kw_only=True)
    w: Any = field(default=None, kw_only=True)

    valid_metrics: ClassVar[list[str]] = OF_COLUMNS

    def __post_init__(self) -> None:
        for name, allowed in (("axis", ("widest", "alternating")), ("pivot", ("median", "random"))):
            if getattr(self, name) not in allowed:
                raise ParameterError(
                    f"KDTree: {name}={getattr(self, name)!r} must be one of {allowed}."
                )
        for name, low in (("leaf_size", 1), ("random_state", 0)):
            _require_whole(self, name, low)
        weights = {} if self.w is None else {"w": self.w}
        metric = named_distance(self.metric, weights, self.p, "KDTree")
        rows = _checked(self.data, metric, "KDTree").copy()
        if not isinstance(metric, Termwise) or metric.order is None:
            raise CapabilityError(
                f"KDTree: {metric!r} is not a sum or maximum over columns, so that boxes exclude "
                "no rows. Use NearestNeighbors(algorithm='brute', metric=...)."
            )
        object.__setattr__(self, "data", rows)
        object.__setattr__(self, "metric", metric.fitted(rows))
        object.__setattr__(self, "w", None)  # the distance holds it
        self._index.prepare(sums=False)

    @cached_property
    def _index(self) -> NeighborIndex:
        return NeighborIndex(
            self.data, self.metric, "kd_tree", self.leaf_size, self.axis, self.pivot,
            int(self.random_state) % 2**63,
        )  # fmt: skip

    @property
    def depth(self) -> int:
        """Number of edges from the root to the deepest leaf."""
        return int(self._index._compiled.depth)


@dataclass(frozen=True, eq=False)
class BallTree(SearchTree):
    """Rows searched under any distance, with the arguments of scikit-learn's ball tree.

    Where the distance is a sum or maximum over columns, or can be mapped to one (haversine, cosine,
    Mahalanobis), a kd-tree is searched, which is faster than balls; under other distances all rows
    are compared, in blocks.

    Formula: the k rows with the smallest d(q, x_i); of two rows at the same distance, the one with
    the smaller number comes first.

    Cost: construction O(n log n · d); a query O(log n) on average for few columns, and O(n d) where
    all rows are compared. Memory O(n d).

    Parameters
    ----------
    data : array-like of shape (n, d)
        The rows that are searched. A copy is kept.
    leaf_size : int, default=16
        Largest number of rows that are not divided further. It has an influence on speed, not on
        results. Must be at least 1.
    metric : str, Distance or callable, default="minkowski"
        The distance: a name or a value of ``th.distances``, a function of two rows, or "pyfunc" for
        the function that is passed as ``func``.
    p : float, default=2
        Power of the Minkowski distance, used with ``metric="minkowski"``. Must be positive.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"V": covariance}`` for "mahalanobis", or
        keyword arguments of your own function.
    func : callable, optional
        A function of two rows, used with ``metric="pyfunc"`` as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> places = np.radians([[52.5, 13.4], [48.9, 2.4], [51.5, -0.1]])  # Berlin, Paris, London
    >>> tree = th.BallTree(places, metric="haversine")
    >>> distance, row = tree.query(np.radians([[50.8, 4.4]]), k=1)  # Brussels
    >>> row.tolist(), (6371 * distance).round().tolist()
    ([[1]], [[255.0]])
    """

    data: Any
    leaf_size: int = 16
    metric: Any = "minkowski"
    p: float = field(default=2, kw_only=True)
    metric_params: Any = field(default=None, kw_only=True)
    func: Any = field(default=None, kw_only=True)

    valid_metrics: ClassVar[list[str]] = OF_COLUMNS + OF_ROWS

    def __post_init__(self) -> None:
        _require_whole(self, "leaf_size", 1)
        if not isinstance(self.metric_params, dict | None):
            raise ParameterError(
                f"BallTree: metric_params={self.metric_params!r} must be a dict or None."
            )
        given = self.metric
        if isinstance(given, str) and given == "pyfunc":
            if not callable(self.func):
                raise ParameterError(
                    f"BallTree: metric='pyfunc' needs a function of two rows, but func="
                    f"{self.func!r}. Pass func=..., or the function as metric."
                )
            given = self.func
        elif self.func is not None:
            raise ParameterError(
                f"BallTree: func={self.func!r} is used with metric='pyfunc', but metric="
                f"{given!r}. Use metric='pyfunc', or leave func out."
            )
        metric = named_distance(given, self.metric_params, self.p, "BallTree")
        rows = _checked(self.data, metric, "BallTree").copy()
        object.__setattr__(self, "data", rows)
        object.__setattr__(self, "metric", metric.fitted(rows))
        object.__setattr__(self, "metric_params", None)  # the distance holds them
        object.__setattr__(self, "func", None)
        self._index.prepare(sums=False)

    @cached_property
    def _index(self) -> NeighborIndex:
        has_tree = isinstance(self.metric, Termwise) and self.metric.order is not None
        algorithm = "kd_tree" if has_tree else "brute"
        return NeighborIndex(self.data, self.metric, algorithm, self.leaf_size)


def _require_whole(tree: Any, name: str, least: int) -> None:
    value = getattr(tree, name)
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(
            f"{type(tree).__name__}: {name}={value!r} must be a whole number ≥ {least}."
        )


def _radii(r: Any, n_queries: int, who: str) -> Array:
    try:
        radii = np.asarray(r, dtype=np.float64)
    except (TypeError, ValueError):
        radii = np.array(np.nan)
    if not (radii >= 0).all():
        raise ParameterError(f"{who}: r={r!r} must be a number ≥ 0, or one for each query.")
    if radii.ndim and radii.shape != (n_queries,):
        raise DataError(
            f"{who}: r must be one number, or an array of one number for each of the {n_queries} "
            f"queries, but its shape is {radii.shape}."
        )
    return radii


def _checked(X: Any, distance: Distance | None, who: str) -> Array:
    rows, _ = as_features(X, who=who, accept_sparse=False)
    may_miss = distance is not None and distance.accepts_missing
    wrong = np.isinf(rows) if may_miss else ~np.isfinite(rows)
    if wrong.any():
        at = np.argwhere(wrong)[0].tolist()
        raise DataError(
            f"{who}: row {at[0]}, column {at[1]} is {rows[at[0], at[1]]}; a distance needs "
            "finite numbers. Drop that row or replace the value."
        )
    return np.asarray(rows)
