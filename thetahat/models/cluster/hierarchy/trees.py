"""Hierarchies as functions: the merges of agglomerative clustering as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.cluster.hierarchy.agglomerative import AgglomerativeClustering

OTHER_LINKAGES = ("complete", "average", "single")


def ward_tree(
    X: Any,
    *,
    connectivity: Any = None,
    n_clusters: int | None = None,
    return_distance: bool = False,
) -> tuple[Any, ...]:
    """Repeatedly merge the two clusters whose union is most compact (Ward's linkage).

    Formula: the dissimilarity of clusters G and H is √(2|G||H|/(|G| + |H|))·‖μ_G − μ_H‖, the root
    of twice the rise of the sum of squares within clusters. Cost: O(n log n) time for few columns,
    at most O(n² d), and O(n d) memory; see `AgglomerativeClustering`, which also cuts the
    hierarchy.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows to merge. One dimension is read as one column.
    connectivity : array or sparse matrix of shape (n, n), optional
        Pairs of rows that are neighbours. Only clusters with an edge between them are merged. None
        lets all clusters merge.
    n_clusters : int or None, default=None
        Number of clusters at which the merges end, if there is a connectivity; without one it has
        no effect, with a warning. None merges until one cluster is left.
    return_distance : bool, default=False
        Whether to return the height of each merge, too.

    Returns
    -------
    children : array of shape (n_merges, 2)
        The two clusters that each merge joins. Rows are the clusters below n, and merge i makes the
        cluster n + i.
    n_connected_components : int
        Number of components of the connectivity before they were joined; 1 without connectivity.
    n_leaves : int
        Number of rows (n), the leaves of the hierarchy.
    parents : array of shape (n + n_merges,) or None
        The cluster that each cluster is merged into, itself if it is not. None without a
        connectivity.
    distances : array of shape (n_merges,)
        The height of each merge, with ``return_distance=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [5.0], [7.0]]
    >>> children, n_parts, n_leaves, parents, heights = th.functions.ward_tree(
    ...     X, return_distance=True
    ... )
    >>> children.tolist(), heights.round(3).tolist()
    ([[0, 1], [2, 3], [4, 5]], [1.0, 2.0, 7.778])
    """
    return _tree(X, connectivity, n_clusters, "ward", "euclidean", return_distance, "ward_tree")


def linkage_tree(
    X: Any,
    connectivity: Any = None,
    n_clusters: int | None = None,
    linkage: str = "complete",
    affinity: Any = "euclidean",
    return_distance: bool = False,
) -> tuple[Any, ...]:
    """Repeatedly merge the two nearest clusters.

    Formula: the dissimilarity of clusters G and H is max d(x_i, x_j) over i ∈ G and j ∈ H with
    complete, min d(x_i, x_j) with single, and Σ Σ d(x_i, x_j)/(|G||H|) with average linkage. Cost:
    O(n² d) time and memory for n²/2 numbers, O(n d) memory for single linkage; see
    `AgglomerativeClustering`, which also cuts the hierarchy.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows to merge, or their dissimilarities of shape (n, n) if ``affinity="precomputed"``.
        One dimension is read as one column.
    connectivity : array or sparse matrix of shape (n, n), optional
        Pairs of rows that are neighbours. Only clusters with an edge between them are merged. None
        lets all clusters merge.
    n_clusters : int or None, default=None
        Number of clusters at which the merges end, if there is a connectivity; without one it has
        no effect, with a warning. None merges until one cluster is left.
    linkage : {"complete", "average", "single"}, default="complete"
        The dissimilarity of two clusters, as in the formula.
    affinity : str, Distance or callable, default="euclidean"
        The dissimilarity of rows: a name or a value of ``th.distances``, a function of all rows
        that returns the matrix of their dissimilarities, or "precomputed" if X is that matrix.
    return_distance : bool, default=False
        Whether to return the height of each merge, too.

    Returns
    -------
    children : array of shape (n_merges, 2)
        The two clusters that each merge joins. Rows are the clusters below n, and merge i makes the
        cluster n + i.
    n_connected_components : int
        Number of components of the connectivity before they were joined; 1 without connectivity.
    n_leaves : int
        Number of rows (n), the leaves of the hierarchy.
    parents : array of shape (n + n_merges,) or None
        The cluster that each cluster is merged into, itself if it is not. None without a
        connectivity.
    distances : array of shape (n_merges,)
        The height of each merge, with ``return_distance=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [5.0], [7.0]]
    >>> *_, heights = th.functions.linkage_tree(X, linkage="average", return_distance=True)
    >>> heights.tolist()
    [1.0, 2.0, 5.5]
    """
    if linkage not in OTHER_LINKAGES:
        raise ParameterError(
            f"linkage_tree: Unknown linkage option, linkage should be one of "
            f"{', '.join(map(repr, OTHER_LINKAGES))}, but {linkage!r} was given. Use ward_tree for "
            "Ward's linkage."
        )
    return _tree(X, connectivity, n_clusters, linkage, affinity, return_distance, "linkage_tree")


def _tree(
    X: Any,
    connectivity: Any,
    n_clusters: int | None,
    linkage: str,
    metric: Any,
    return_distance: bool,
    who: str,
) -> tuple[Any, ...]:
    if n_clusters is not None and connectivity is None:
        warn(
            f"{who}: Partial build of the tree is implemented only for structured clustering (i.e. "
            "with explicit connectivity), because it saves nothing otherwise. The whole tree is "
            "returned. Leave n_clusters out, or pass a connectivity.",
            UserWarning,
        )
    if np.ndim(X) == 1:
        X = np.reshape(X, (-1, 1))
    model = AgglomerativeClustering(
        1 if n_clusters is None else n_clusters,
        metric=metric,
        connectivity=connectivity,
        compute_full_tree=n_clusters is None,
        linkage=linkage,
    ).fit(X)
    n, children = model.n_leaves_, model.children_
    parents = None if connectivity is None else _parents(children, n)
    found = children, model.n_connected_components_, n, parents
    return (*found, model.heights_) if return_distance else found


def _parents(children: Array, n: int) -> Array:
    parents = np.arange(n + len(children))
    parents[children] = n + np.arange(len(children))[:, None]
    return parents
