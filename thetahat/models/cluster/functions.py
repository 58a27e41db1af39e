"""Clusterings as functions: a call fits a model of this folder and returns what it found."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.parameters import none, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.models.cluster.density.dbscan import DBSCAN
from thetahat.models.cluster.k_means import KMeans
from thetahat.models.cluster.lloyd import Rows
from thetahat.models.cluster.spectral_clustering import SpectralClustering
from thetahat.models.cluster.starts import numbered_far_rows


def k_means(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: Any = "auto",
    max_iter: int = 300,
    verbose: Any = False,
    tol: float = 1e-4,
    random_state: Any = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Find k centres with the least sum of squared distances to the rows, as `KMeans` does.

    Formula: μ, z = argmin Σᵢ wᵢ‖xᵢ − μ_{zᵢ}‖², a local minimum that depends on the start. Cost: at
    most O(n k d) per iteration and start; see `KMeans`, which also assigns new rows.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n, d)
        The rows to cluster, with finite numbers.
    n_clusters : int
        Number of clusters (k). Must be at least 1 and at most the number of rows.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
    init : str, array of shape (k, d) or callable, default="k-means++"
        The starting centres, as in `KMeans`.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the least loss is kept. "auto" means 1 for
        "k-means++" and for an array, and 10 otherwise.
    max_iter : int, default=300
        Maximum number of iterations of each start.
    verbose : bool, default=False
        Whether to print the loss of each iteration.
    tol : float, default=1e-4
        A start ends when the sum of the squared moves of the centres is at most this multiple of
        the mean variance of the columns.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. Pass an int for the same result on every call.
    copy_x : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Has no effect on the result. Accepted for compatibility with scikit-learn.
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.

    Returns
    -------
    centroid : array of shape (k, d)
        The centres of the clusters (μ).
    label : array of shape (n,)
        The number of the cluster of each row (z).
    inertia : float
        The loss: the weighted sum of the squared distances of the rows from their centres.
    best_n_iter : int
        Number of iterations of the best start, with ``return_n_iter=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> centres, labels, loss = th.functions.k_means(X, 2, random_state=0)
    >>> sorted(centres.ravel().round(3).tolist()), round(loss, 4)
    ([1.333, 7.0], 4.6667)
    """
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        verbose=verbose,
        tol=tol,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = model.cluster_centers_, model.labels_, model.inertia_
    return (*found, model.n_iter_) if return_n_iter else found


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[Array, Array]:
    """Choose rows that are far from each other, as starting centres of k-means (k-means++).

    Formula: the first row is drawn by its weight, every further one with a probability in
    proportion to wᵢ·min_k ‖xᵢ − μ_k‖², the squared distance from the nearest centre so far. Of
    several rows drawn in each turn, the one that lowers Σᵢ wᵢ·min_k ‖xᵢ − μ_k‖² most is taken.

    Cost: at most O(n d k t) time for t trials, and less because distances between centres rule out
    most rows; O(n) memory beside the rows.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n, d)
        The rows to choose from, with finite numbers.
    n_clusters : int
        Number of rows to choose (k). Must be at least 1 and at most the number of rows.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 0 is never drawn. None gives every row weight 1.
    x_squared_norms : array-like of shape (n,), optional
        Has no effect, because squared norms are not needed; only its length is checked. Accepted
        for compatibility with scikit-learn.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws. Pass an int for the same result on every call.
    n_local_trials : int or None, default=None
        Number of rows that are drawn in each turn (t). More trials give a lower loss and take
        longer. None means 2 + log k. Must be at least 1.

    Returns
    -------
    centers : array of shape (k, d)
        The chosen rows, in the order in which they were chosen.
    indices : array of shape (k,)
        The numbers of these rows in X.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0], [0.0], [5.0], [9.0]])
    >>> centres, rows = th.functions.kmeans_plusplus(X, 3, random_state=0)
    >>> sorted(centres.ravel().tolist()), bool((X[rows] == centres).all())
    ([0.0, 5.0, 9.0], True)
    """
    model = KMeans(n_clusters)
    source = model._open(X, None, sample_weight, supervised=False)
    n = source.n_rows
    trials = whole(1) | none
    if not trials.holds(n_local_trials):
        raise ParameterError(
            f"kmeans_plusplus: n_local_trials must be {trials.words}, but is {n_local_trials!r}. "
            "Use None for 2 + log k trials."
        )
    if x_squared_norms is not None and np.shape(x_squared_norms) != (n,):
        raise DataError(
            f"kmeans_plusplus: The length of x_squared_norms {np.shape(x_squared_norms)} should be "
            f"equal to the length of n_samples {n}. Leave it out."
        )
    rows = Rows(source, "kmeans_plusplus")
    model._require_enough_rows(source, rows.n_used)
    with one_blas_thread():
        centres, numbers = numbered_far_rows(
            rows, n_clusters, generator(random_state), tries=n_local_trials
        )
    return centres.astype(source.dtype), numbers


def dbscan(
    X: Any,
    eps: float = 0.5,
    *,
    min_samples: int = 5,
    metric: Any = "minkowski",
    metric_params: Any = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Find dense regions of any shape and rows that belong to none, as `DBSCAN` does.

    Formula: row i is a core row if Σ_{j: d(x_i, x_j) ≤ ε} w_j ≥ min_samples. Core rows that a chain
    of core rows with d ≤ ε connects are one cluster, with the other rows within ε of them. Cost:
    O(n log n) time for few columns, at most O(n² d); see `DBSCAN`.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n, d)
        The rows, or their distances of shape (n, n) if ``metric="precomputed"``.
    eps : float, default=0.5
        Largest distance of two rows that are neighbours (ε). Must be positive.
    min_samples : int, default=5
        Number of rows, or sum of their weights, within ε that makes a row a core row; the row
        itself counts.
    metric : str, Distance or callable, default="minkowski"
        The distance between rows, as in `DBSCAN`.
    metric_params : dict or None, default=None
        Further arguments of the distance. None means no arguments.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        The search for neighbours, as in `DBSCAN`. It does not change the result.
    leaf_size : int, default=30
        Number of rows in the leaves of the tree of the search. It does not change the result.
    p : float or None, default=2
        Power of the Minkowski distance. None means 2, the Euclidean distance.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Returns
    -------
    core_samples : array of shape (n_core,)
        The numbers of the core rows, in ascending order.
    labels : array of shape (n,)
        The number of the cluster of each row, −1 for noise.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[1.0, 2.0], [2.0, 2.0], [2.0, 3.0], [8.0, 7.0], [8.0, 8.0], [25.0, 80.0]]
    >>> core, labels = th.functions.dbscan(X, eps=3, min_samples=2)
    >>> core.tolist(), labels.tolist()
    ([0, 1, 2, 3, 4], [0, 0, 0, 1, 1, -1])
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_


def spectral_clustering(
    affinity: Any,
    *,
    n_clusters: int = 8,
    n_components: int | None = None,
    eigen_solver: str | None = None,
    random_state: Any = None,
    n_init: int = 10,
    eigen_tol: Any = "auto",
    assign_labels: Any = "kmeans",
    verbose: bool = False,
) -> Array:
    """Cluster the nodes of a graph by eigenvectors of its edge weights, as `SpectralClustering`.

    Formula: with edge weights W and degrees D = diag(Σ_j w_ij), the rows of the eigenvectors of
    I − D⁻¹W with the smallest eigenvalues are clustered. Cost: that of one sparse factor of W and
    of k-means, or O(n³) for dense weights; see `SpectralClustering`, which also computes the
    weights from rows.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n, n)
        The edge weights (W): symmetric and at least 0.
    n_clusters : int, default=8
        Number of clusters (k). Must be at least 1 and at most the number of nodes.
    n_components : int or None, default=None
        Number of eigenvectors that are clustered. None means `n_clusters`.
    eigen_solver : {"arpack", "lobpcg", "amg"} or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts of k-means and of "discretize". Pass an int for the same result on every
        call.
    n_init : int, default=10
        Number of starts of k-means or of "discretize", of which the best is kept.
    eigen_tol : float or "auto", default="auto"
        Relative accuracy of the eigenvalues. "auto" and 0 mean nearly machine precision.
    assign_labels : {"kmeans", "discretize", "cluster_qr"} or clusterer, default="kmeans"
        How the eigenvectors are clustered, as in `SpectralClustering`.
    verbose : bool, default=False
        Whether to print the steps and the loss of k-means.

    Returns
    -------
    labels : array of shape (n,)
        The number of the cluster of each node, in the order of their first nodes.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> W = np.kron(np.eye(2), np.ones((3, 3)))
    >>> W[2, 3] = W[3, 2] = 0.1
    >>> th.functions.spectral_clustering(W, n_clusters=2, random_state=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    model = SpectralClustering(
        n_clusters,
        n_components=n_components,
        eigen_solver=eigen_solver,
        random_state=random_state,
        n_init=n_init,
        eigen_tol=eigen_tol,
        assign_labels=assign_labels,
        affinity="precomputed",
        verbose=verbose,
    )
    return model.fit(affinity).labels_
