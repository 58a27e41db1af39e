"""HDBSCAN: the clusters of DBSCAN over all radii, of which those that last longest are kept."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_value,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.cluster.density.base import DensityModel
from thetahat.models.cluster.density.condensed import CondensedTree, clusters_below
from thetahat.models.cluster.density.reachability import given_merges, reachability_merges

INFINITE, MISSING = -2, -3
"""Labels of rows with infinite and with missing values."""


@with_parameters
class HDBSCAN(DensityModel):
    """Hierarchical density-based clustering: clusters of different densities, and noise.

    All radii of `DBSCAN` are considered at once. As the radius shrinks, clusters split or lose
    rows; those that last longest are kept. Neither a radius nor the number of clusters is given.

    Formula: with the distance c_i of row i from its min_samples-th nearest row, itself included,
    rows are joined by single linkage of max(c_i, c_j, d(x_i, x_j)/α). A branch with at least
    min_cluster_size rows is a cluster, born at λ = 1/height. With the λ_i at which row i leaves it,
    its stability is Σ_i (λ_i − λ_birth), and the clusters with the largest total stability of which
    none lies in another are kept. All merges at one height are one merge, so that the clusters do
    not depend on the order of the rows.

    Cost: O(n log n) time for few columns and O(n (d + min_samples)) memory; at most O(n² d) time.
    Functions of two rows and given distances take O(n²) memory, which is checked first.

    Parameters
    ----------
    min_cluster_size : int, default=5
        Smallest number of rows of a cluster. Larger values give fewer clusters. Must be at
        least 2.
    min_samples : int or None, default=None
        Number of neighbours used to estimate the density at a row (the row itself is counted).
        Larger values smooth the density and label more rows as noise. None means
        `min_cluster_size`. Must be at least 1 and at most the number of rows.
    cluster_selection_epsilon : float, default=0.0
        Clusters that split at a distance below this value stay together. Larger values give fewer
        clusters. Must be at least 0.
    max_cluster_size : int or None, default=None
        Largest number of rows of a cluster with ``cluster_selection_method="eom"``; larger clusters
        are replaced by their parts. None means no limit.
    alpha : float, default=1.0
        Divides the distances between rows (α), but not c_i. Larger values make the density around
        rows more important. Must be positive.
    leaf_size : int, default=40
        Largest number of rows in a leaf of the kd-tree. It has an influence on speed, not on
        results. Must be at least 1.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Which clusters are kept: "eom" the most stable ones, "leaf" those that do not split, which
        are smaller and more homogeneous.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster. If False, at least two clusters are found, or none.
    store_centers : {"centroid", "medoid", "both"} or None, default=None
        Which centres of the clusters are computed. Medoids take O(m²) time and memory for a
        cluster of m rows. Must be None if the distances are given.
    copy : bool or "warn", default="warn"
        Has no effect, because X is never overwritten. Accepted for compatibility with scikit-learn.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The number of the cluster of each row, in the order of their first rows. −1 for noise, −2
        for rows with infinite values, and −3 for rows with missing values.
    probabilities_ : array of shape (n,)
        How strongly each row belongs to its cluster, λ_i/max λ, from 0 for noise to 1. NaN for rows
        with missing values.
    centroids_ : array of shape (n_clusters, d)
        The means of the clusters, weighted by `probabilities_`. Only with `store_centers`.
    medoids_ : array of shape (n_clusters, d)
        The rows with the least weighted sum of distances within their clusters. Only with
        `store_centers`.

    See Also
    --------
    DBSCAN : Clusters of one density, given by a radius.

    References
    ----------
    Campello, Moulavi and Sander (2013), "Density-based clustering based on hierarchical density
    estimates". Malzer and Baum (2020), "A hybrid approach to hierarchical density-based cluster
    selection".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> narrow, wide = np.linspace(0.0, 1.0, 30), np.linspace(5.0, 15.0, 30)
    >>> X = np.append(np.concatenate([narrow, wide]), 50.0)[:, None]
    >>> model = th.HDBSCAN().fit(X)
    >>> np.unique(model.labels_, return_counts=True)
    (array([-1,  0,  1]), array([ 1, 30, 30]))
    """

    min_cluster_size: int = 5
    min_samples: int | None = None
    cluster_selection_epsilon: float = 0.0
    max_cluster_size: int | None = None
    metric: Any = "euclidean"
    metric_params: Any = None
    alpha: float = 1.0
    algorithm: str = "auto"
    leaf_size: int = 40
    n_jobs: int | None = None
    cluster_selection_method: str = "eom"
    allow_single_cluster: bool = False
    store_centers: str | None = None
    copy: Any = "warn"

    _ranges: ClassVar[dict[str, Range]] = DensityModel._ranges | {
        "min_cluster_size": whole(2),
        "min_samples": whole(1) | none,
        "cluster_selection_epsilon": at_least(0),
        "max_cluster_size": whole(1) | none,
        "alpha": more_than(0),
        "cluster_selection_method": one_of("eom", "leaf"),
        "allow_single_cluster": boolean,
        "store_centers": one_of("centroid", "medoid", "both") | none,
        "copy": boolean | one_of("warn"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._is_given
        return tags

    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Build the hierarchy, and choose its clusters. Cost: see `HDBSCAN`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows, or their distances of shape (n, n) if ``metric="precomputed"``. Infinite
            distances mean that they are not known.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted clustering.
        """
        source = self._open(X, supervised=False, check_finite=False)
        assert isinstance(source, InMemory)
        who, whole_rows = type(self).__name__, source.X
        if self._is_given and self.store_centers is not None:
            raise ParameterError(
                f"{who}: Cannot store centers when using a precomputed distance matrix, but "
                f"store_centers={self.store_centers!r}. Use store_centers=None."
            )
        special = self._special_labels(whole_rows, who)
        kept = np.flatnonzero(special == 0)
        if len(kept) < len(special):
            source = InMemory(X=whole_rows[kept], n_features=source.n_features, dtype=source.dtype)
        k = self._count_nearest(len(kept), who)
        if self._is_given:
            merges = given_merges(source.X, k, float(self.alpha), who)
        else:
            index = self._index_of(source)
            merges = reachability_merges(index, k, float(self.alpha), self.metric, who)
        self._children, self._heights = merges
        labels, strength = self._chosen()
        self.labels_, self.probabilities_ = special, np.where(special == MISSING, np.nan, 0.0)
        self.labels_[kept], self.probabilities_[kept] = labels, strength
        self._keep_centres(source.X, labels, strength)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit the clustering, and return the cluster of every row. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n,)
            The number of the cluster of each row, ``labels_``.
        """
        return self.fit(X).labels_

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> Array:
        """Cut the hierarchy at one radius, as `DBSCAN` without its border rows. Cost: O(n log n).

        Parameters
        ----------
        cut_distance : float
            The radius. Rows that are joined below this height of the hierarchy form a cluster.
        min_cluster_size : int, default=5
            Clusters with fewer rows are noise.

        Returns
        -------
        array of shape (n,)
            The number of the cluster of each row, as in ``labels_``.
        """
        check_is_fitted(self)
        who = f"{type(self).__name__}.dbscan_clustering"
        check_value(cut_distance, at_least(0), "cut_distance", who)
        check_value(min_cluster_size, whole(1), "min_cluster_size", who)
        labels = np.where(self.labels_ < -1, self.labels_, -1)
        labels[self.labels_ >= -1] = clusters_below(
            self._children, self._heights, cut_distance, min_cluster_size
        )
        return labels

    def _special_labels(self, rows: Matrix, who: str) -> Array:
        """The labels of rows with missing and infinite values; 0 for all others."""
        special = np.zeros(rows.shape[0], dtype=np.int64)
        values = rows.data if is_sparse(rows) else rows
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()) or np.isfinite(values).all():
                return special
        if self._is_given:
            if np.isnan(values).any() or is_sparse(rows):
                raise DataError(
                    f"{who}: np.nan values found in precomputed-dense distances, or values that "
                    "are not finite among sparse ones. Only dense distances may be infinite, "
                    "which means that they are not known."
                )
            return special
        dense = rows.toarray() if is_sparse(rows) else rows
        special[np.isinf(dense).any(axis=1)] = INFINITE
        special[np.isnan(dense).any(axis=1)] = MISSING
        return special

    def _count_nearest(self, n: int, who: str) -> int:
        if n < 2:
            raise DataError(
                f"{who}: n_samples={n} while HDBSCAN requires more than one sample of finite "
                "numbers. Pass more rows."
            )
        k = self.min_cluster_size if self.min_samples is None else self.min_samples
        if k > n:
            raise DataError(
                f"{who}: min_samples ({k}) must be at most the number of samples in X ({n}). Use "
                "a smaller value, or more rows."
            )
        return int(k)

    def _chosen(self) -> tuple[Array, Array]:
        """The labels and the strengths of the rows in the hierarchy."""
        tree = CondensedTree.of(self._children, self._heights, int(self.min_cluster_size))
        single, epsilon = bool(self.allow_single_cluster), float(self.cluster_selection_epsilon)
        if self.cluster_selection_method == "eom":
            largest = np.inf if self.max_cluster_size is None else self.max_cluster_size
            chosen = tree.most_stable(single, largest)
        else:
            chosen = tree.leaves()
        if epsilon > 0:
            chosen = tree.joined_below(chosen, epsilon, single)
        return tree.labels(chosen, epsilon)

    def _keep_centres(self, rows: Matrix, labels: Array, strength: Array) -> None:
        for name in ("centroids_", "medoids_"):
            self.__dict__.pop(name, None)
        if self.store_centers is None:
            return
        dense = rows.toarray() if is_sparse(rows) else np.asarray(rows)
        members = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
        if self.store_centers in ("centroid", "both"):
            means = [np.average(dense[own], weights=strength[own], axis=0) for own in members]
            self.centroids_ = np.array(means).reshape(-1, dense.shape[1])
        if self.store_centers in ("medoid", "both"):
            distance = self._distance(type(self).__name__).fitted(dense)
            middle = [
                own[np.argmin(distance.pairwise(dense[own], dense[own]) @ strength[own])]
                for own in members
            ]
            self.medoids_ = dense[np.array(middle, dtype=np.int64)]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "labels_" not in vars(self):
            return
        n = int((self.labels_ >= -1).sum())
        strength, heights = vars(self).get("probabilities_"), vars(self).get("_heights")
        children = vars(self).get("_children")
        check_rule(
            self,
            isinstance(strength, np.ndarray) and strength.shape == self.labels_.shape,
            "probabilities_ must hold one number per row",
        )
        check_rule(
            self,
            isinstance(heights, np.ndarray)
            and heights.shape == (n - 1,)
            and isinstance(children, np.ndarray)
            and children.shape == (n - 1, 2)
            and children.dtype.kind == "i"
            and bool((children >= 0).all())
            and bool((children < n + np.arange(n - 1)[:, None]).all()),
            "the hierarchy must have a merge of earlier clusters for each row but one",
        )
