"""How far the neighbours in an embedding are neighbours of the rows themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import as_features, is_sparse
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Termwise
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors

ENTRIES_AT_ONCE = 1 << 20
"""Distances that are ranked together."""


@needs_memory
def trustworthiness(
    X: Any, X_embedded: Any, *, n_neighbors: int = 5, metric: Any = "euclidean"
) -> float:
    """Measure to what extent neighbours in an embedding are neighbours of the rows.

    Formula: T = 1 − 2/(n·k·(2n − 3k − 1)) Σ_i Σ_{j ∈ N_i} max(0, r_ij − k), where N_i are the k
    nearest points of point i in the embedding, and row j is the r_ij-th nearest row of row i. Rows
    at the same distance have the same rank, the smallest. Cost: O(n²(d + log n)) time and O(n·k)
    memory.

    Parameters
    ----------
    X : array-like, sparse or table of shape (n, d)
        The rows, or their distances of shape (n, n) if ``metric="precomputed"``.
    X_embedded : array-like or table of shape (n, n_components)
        The points of the rows in the embedding.
    n_neighbors : int, default=5
        Number of neighbours of every point that are compared (k). Must be at least 1 and less than
        n/2.
    metric : str, Distance or callable, default="euclidean"
        The distance between rows of X: a name or a value of ``th.distances``, a function of two
        rows, or "precomputed" if X holds distances. Points are compared by Euclidean distances.

    Returns
    -------
    float
        The trustworthiness, from 0 to 1. It is 1 if all neighbours in the embedding are among the
        k nearest rows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(size=(100, 10)) * ([10.0, 5.0] + 8 * [0.1])
    >>> round(th.trustworthiness(X, th.PCA(2).fit_transform(X)), 2)
    1.0
    """
    who = "trustworthiness"
    check_value(n_neighbors, whole(1), "n_neighbors", who)
    rows = as_features(X, who=who, accept_sparse=True)[0]
    points = as_features(X_embedded, who=who, accept_sparse=True)[0]
    n = int(rows.shape[0])
    if points.shape[0] != n:
        raise DataError(
            f"{who}: X has {n} rows and X_embedded has {points.shape[0]}, but there must be one "
            "point per row. Pass the embedding of the rows of X."
        )
    if n_neighbors >= n / 2:
        raise ParameterError(
            f"{who}: n_neighbors ({n_neighbors}) should be less than n_samples / 2 ({n / 2:g}). "
            "Use fewer neighbours or more rows."
        )
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(points)._nearest(None).row
    search = NearestNeighbors(metric=metric, algorithm="brute").fit(rows)
    beyond, step = 0, max(1, ENTRIES_AT_ONCE // n)
    for start in range(0, n, step):
        which = np.arange(start, min(n, start + step))
        distance = _distances(search, rows, which)
        distance[np.arange(len(which)), which] = np.inf
        to_near = np.take_along_axis(distance, near[which], axis=1)
        distance.sort(axis=1)
        for ordered, each in zip(distance, to_near, strict=True):
            ranks = np.searchsorted(ordered, each) + 1 - n_neighbors
            beyond += int(ranks[ranks > 0].sum())
    return 1.0 - beyond * (2.0 / (n * n_neighbors * (2.0 * n - 3.0 * n_neighbors - 1.0)))


def _distances(search: NearestNeighbors, rows: Matrix, which: Array) -> Array:
    """The distances of some rows from all rows."""
    index = search._index
    if isinstance(index.distance, Termwise) and not is_sparse(rows):
        distance = index.distance.pairwise(rows[which], rows)
        if np.isfinite(distance).all():
            return distance
    found = index.nearest(rows.tocsr()[which] if is_sparse(rows) else rows[which], rows.shape[0])
    distance = np.empty(found.row.shape)
    np.put_along_axis(distance, found.row, found.distance, axis=1)
    return distance
