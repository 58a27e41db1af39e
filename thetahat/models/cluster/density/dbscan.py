"""DBSCAN: clusters are core rows within a radius of each other, and the rows around them."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, infinity, more_than, none, whole
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance
from thetahat.models.cluster.density.base import DensityModel
from thetahat.models.cluster.density.neighborhoods import density_clusters, suits_tree_at
from thetahat.models.neighbors.search.metric import named_distance


@with_parameters
class DBSCAN(DensityModel):
    """Density-based clustering: dense regions of any shape, and rows that belong to none.

    The number of clusters is not given. Rows with few others near them are noise and get the label
    −1. All clusters have about the same density; `HDBSCAN` finds clusters of different densities.

    Formula: row i is a core row if Σ_{j: d(x_i, x_j) ≤ ε} w_j ≥ min_samples, where the row itself
    counts. Core rows with d(x_i, x_j) ≤ ε belong to one cluster, as do those that a chain of core
    rows connects. Another row joins the clusters of the core rows within ε; if there are several,
    the one of the smallest number. Clusters are numbered by their first core rows.

    Cost: O(n log n) time for few columns and O(n d) memory by a kd-tree, whatever the number of
    neighbours; at most O(n² d) time. Many columns with few neighbours and sparse rows take O(n² d)
    time by matrix products, block by block, and memory for the pairs of neighbours.

    Parameters
    ----------
    eps : float, default=0.5
        Largest distance of two rows that are neighbours (ε). Larger values give fewer and larger
        clusters and less noise. It is the most important parameter, and depends on the units of the
        columns. Must be positive.
    min_samples : int, default=5
        Number of rows, or sum of their weights, within ε that makes a row a core row; the row
        itself counts. Larger values give denser clusters and more noise. Must be at least 1.
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, a function of two rows, or
        "precomputed" if X holds the distances between all rows. Of a sparse matrix of distances
        only stored entries are neighbours.
    p : float or None, default=None
        Power of the distance with ``metric="minkowski"``. None means 2, the Euclidean distance.
        Must be positive.

    Attributes
    ----------
    core_sample_indices_ : array of shape (n_core,)
        The numbers of the core rows, in ascending order.
    components_ : array or sparse array of shape (n_core, d)
        A copy of the core rows.

    See Also
    --------
    HDBSCAN : Clusters of different densities, without a radius.

    References
    ----------
    Ester, Kriegel, Sander and Xu (1996), "A density-based algorithm for discovering clusters in
    large spatial databases with noise".

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[1.0, 2.0], [2.0, 2.0], [2.0, 3.0], [8.0, 7.0], [8.0, 8.0], [25.0, 80.0]]
    >>> th.DBSCAN(eps=3, min_samples=2).fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, -1]
    """

    eps: float = 0.5
    _: KW_ONLY
    min_samples: int = 5
    metric: Any = "euclidean"
    metric_params: Any = None
    algorithm: str = "auto"
    leaf_size: int = 30
    p: float | None = None
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = DensityModel._ranges | {
        "eps": more_than(0),
        "min_samples": whole(1),
        "p": none | more_than(0) | infinity,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DBSCAN:
        """Find the core rows and the clusters. Cost: see `DBSCAN`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows; weights are compared with
            `min_samples` as they are. A row of weight 0 is never a core row: it gets the label of a
            cluster within `eps`, or −1, and does not change the labels of other rows. None gives
            every row weight 1.

        Returns
        -------
        self
            The fitted clustering.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        assert isinstance(source, InMemory)
        index = self._index_of(source)
        weight = None if sample_weight is None else source.weight
        self.labels_, core = density_clusters(
            index, float(self.eps), float(self.min_samples), weight, type(self).__name__
        )
        self.core_sample_indices_ = np.flatnonzero(core)
        self.components_ = source.X[core]
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the clustering, and return the cluster of every row. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        array of shape (n,)
            The number of the cluster of each row, −1 for noise.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def _distance(self, who: str) -> Distance:
        given = dict(self.metric_params or {})
        # The power may be given at either place; only if it is given twice, there is a warning.
        power = given.pop("p", 2.0) if self.p is None else self.p
        return named_distance(self.metric, given, power, who)

    def _suits_tree(self, distance: Distance, rows: Array) -> bool:
        return suits_tree_at(rows, distance, float(self.eps))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "labels_" not in vars(self):
            return
        core: Any = vars(self).get("core_sample_indices_")
        rows: Any = vars(self).get("components_")
        check_rule(
            self,
            isinstance(core, np.ndarray)
            and core.ndim == 1
            and core.dtype.kind == "i"
            and bool(((core >= 0) & (core < len(self.labels_))).all()),
            "core_sample_indices_ must hold numbers of rows",
        )
        check_rule(
            self,
            (isinstance(rows, np.ndarray) or is_sparse(rows)) and rows.shape[0] == len(core),
            "components_ must hold the core rows",
        )
