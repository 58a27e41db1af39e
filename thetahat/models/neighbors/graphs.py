"""Graphs of neighbours as sparse matrices: two transformers, and two functions.

G_ij = d(x_i, x_j) or 1 for the k nearest rows j, or for all rows with d(x_i, x_j) ≤ r.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, check_value, one_of
from thetahat.models.neighbors.base import NeighborModel
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors
from thetahat.models.neighbors.queries import InRadius, KNearest

_mode: Range = one_of("connectivity", "distance")


@with_parameters
class GraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborModel):
    """A transformer of rows into a graph of neighbours among the training rows.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        The entries of the graph: the distances, or 1 for every neighbour.
    """

    _ranges: ClassVar[dict[str, Range]] = {**NeighborModel._ranges, "mode": _mode}

    _: KW_ONLY
    mode: str = "distance"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._keep_rows(self._open(X, supervised=False))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to the rows, and compute their graph. Cost: that of `fit` and `transform`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        graph : sparse matrix of shape (n, n)
            The graph of the training rows, as `transform` gives it.
        """
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Compute the graph of the training rows near the given rows. Cost: that of the search.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows whose neighbours are searched. A training row is its own neighbour.

        Returns
        -------
        graph : sparse matrix of shape (m, n)
            CSR; the entries of a row are sorted by distance, and zeros are stored.
        """
        check_is_fitted(self)
        return self._graph(X).astype(self._index.rows.dtype, copy=False)

    @abstractmethod
    def _graph(self, X: Any) -> Any:
        """The graph with entries as `mode` says."""

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_


@with_parameters
class KNeighborsTransformer(GraphTransformer, KNearest):
    """Transform rows into the graph of their k nearest training rows.

    A pipeline computes neighbours once and passes the graph to a model with
    ``metric="precomputed"``, which uses its stored entries only.

    Formula: G_ij = d(x_i, x_j), or 1, if training row j is among the k nearest rows of x_i.

    Cost: that of `kneighbors`, O(log n) per row with a kd-tree, else O(n d). Memory: k entries per
    row.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours of a row. With ``mode="distance"`` there is one more, so that training
        rows have this many neighbours besides themselves. Must be at least 1.

    Examples
    --------
    >>> import thetahat as th
    >>> graph = th.KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [3.0]])
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    _ranges: ClassVar[dict[str, Range]] = {**KNearest._ranges, "mode": _mode}

    _: KW_ONLY
    mode: str = "distance"
    n_neighbors: int = 5

    def _graph(self, X: Any) -> Any:
        more = int(self.mode == "distance")
        return self.kneighbors_graph(X, self.n_neighbors + more, mode=self.mode)


@with_parameters
class RadiusNeighborsTransformer(GraphTransformer, InRadius):
    """Transform rows into the graph of training rows within a radius.

    A pipeline computes neighbours once and passes the graph to a model with
    ``metric="precomputed"``, which uses its stored entries only.

    Formula: G_ij = d(x_i, x_j), or 1, if d(x_i, x_j) ≤ r for training row j.

    Cost: that of `radius_neighbors`, O(log n + found) per row with a kd-tree, else O(n d). Memory:
    one entry per neighbour.

    Examples
    --------
    >>> import thetahat as th
    >>> transformer = th.RadiusNeighborsTransformer(radius=1.0)
    >>> transformer.fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    _ranges: ClassVar[dict[str, Range]] = {**InRadius._ranges, "mode": _mode}

    _: KW_ONLY
    mode: str = "distance"
    radius: float = 1.0

    def _graph(self, X: Any) -> Any:
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Any = None,
    include_self: Any = False,
    n_jobs: Any = None,
) -> Any:
    """Compute the graph of the k nearest neighbours of rows.

    Formula: G_ij = 1, or d(x_i, x_j), if row j is among the k nearest rows of row i. Cost: that of
    ``NearestNeighbors.kneighbors``. Memory: k entries per row.

    Parameters
    ----------
    X : array-like, sparse, table or NearestNeighbors
        The rows, or a fitted neighbour model whose training rows are used; the other parameters of
        the distance have no effect then.
    n_neighbors : int
        Number of neighbours of every row (k). Must be at least 1.
    mode : {"connectivity", "distance"}, default="connectivity"
        The entries of the graph: 1 for every neighbour, or the distances.
    metric : str, Distance or callable, default="minkowski"
        The distance between rows: a name or a value of ``th.distances``, or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance. Must be at least 1.
    metric_params : dict or None, default=None
        Further parameters of the distance.
    include_self : bool or "auto", default=False
        Whether every row is its own first neighbour. "auto" includes it for
        ``mode="connectivity"`` only.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Returns
    -------
    graph : sparse matrix of shape (n, n)
        CSR with k entries per row.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kneighbors_graph([[0.0], [3.0], [1.0]], 2, include_self=True).toarray()
    array([[1., 0., 1.],
           [0., 1., 1.],
           [1., 0., 1.]])
    """
    search = X
    if not isinstance(X, KNearest):
        options = dict(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs)
        search = NearestNeighbors(n_neighbors=n_neighbors, **options).fit(X)
    rows = _queries(search, include_self, mode, "kneighbors_graph")
    return search.kneighbors_graph(rows, n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Any = None,
    include_self: Any = False,
    n_jobs: Any = None,
) -> Any:
    """Compute the graph of neighbours within a radius of rows.

    Formula: G_ij = 1, or d(x_i, x_j), if d(x_i, x_j) ≤ r. Cost: that of
    ``NearestNeighbors.radius_neighbors``. Memory: one entry per neighbour.

    Parameters
    ----------
    X : array-like, sparse, table or NearestNeighbors
        The rows, or a fitted neighbour model whose training rows are used; the other parameters of
        the distance have no effect then.
    radius : float
        Radius within which rows are neighbours (r). Must not be negative.
    mode : {"connectivity", "distance"}, default="connectivity"
        The entries of the graph: 1 for every neighbour, or the distances.
    metric : str, Distance or callable, default="minkowski"
        The distance between rows: a name or a value of ``th.distances``, or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance. Must be at least 1.
    metric_params : dict or None, default=None
        Further parameters of the distance.
    include_self : bool or "auto", default=False
        Whether every row is its own neighbour. "auto" includes it for ``mode="connectivity"`` only.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Returns
    -------
    graph : sparse matrix of shape (n, n)
        CSR with one entry per neighbour.

    Examples
    --------
    >>> import thetahat as th
    >>> th.radius_neighbors_graph([[0.0], [3.0], [1.0]], 1.5).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    search = X
    if not isinstance(X, InRadius):
        options = dict(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs)
        search = NearestNeighbors(radius=radius, **options).fit(X)
    rows = _queries(search, include_self, mode, "radius_neighbors_graph")
    return search.radius_neighbors_graph(rows, radius, mode)


def _queries(search: NeighborModel, include_self: Any, mode: str, who: str) -> Any:
    """The training rows if they are their own neighbours, else None."""
    check_value(include_self, boolean | one_of("auto"), "include_self", who)
    check_value(mode, _mode, "mode", who)
    included = mode == "connectivity" if include_self == "auto" else bool(include_self)
    return search._index.rows if included else None
