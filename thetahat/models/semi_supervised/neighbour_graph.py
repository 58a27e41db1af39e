"""A graph of near rows, and how much a function varies along its edges.

Every row is joined with its nearest other rows, and an edge counts in both directions. With edge
weights Wᵢⱼ and row weights vᵢ, a function with values fᵢ varies by

    E(f) = Σᵢⱼ vᵢvⱼWᵢⱼ (fᵢ − fⱼ)² / Σᵢⱼ vᵢvⱼWᵢⱼ = fᵀLf,

the mean squared difference along the edges. The normalised graph has fᵢ/√δᵢ in the place of fᵢ,
where δᵢ is the degree Σⱼ vⱼWᵢⱼ relative to its mean, so that dense regions do not outweigh others.
Equal rows are one node with the sum of their weights: a row of weight 2 is the same as a row twice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances import Minkowski
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree

LEAF_SIZE = 30


def distinct_rows(X: Matrix) -> tuple[Array, Array]:
    """The numbers of the first of all equal rows, and for every row the place of its equal there.

    The places are in the order of the values, so that they do not depend on the order of the rows.
    """
    if not is_sparse(X):
        _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
        return first, place.reshape(-1)
    rows = X.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    keys = [
        (rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairwise(rows.indptr)
    ]
    order = {key: place for place, key in enumerate(sorted(set(keys)))}
    place = np.array([order[key] for key in keys])
    return np.unique(place, return_index=True)[1], place


def edge_weights(
    points: Matrix, n_neighbors: int, heat: bool, bandwidth: float | None, given: bool = False
) -> Any:
    """The symmetric sparse matrix W of the graph of distinct rows; `given` for distances.

    An edge has the weight exp(−d²/(2h²)), or 1 without `heat`. The bandwidth h is by default the
    median of the distances of every row from its neighbours, so that an edge between two rows that
    are neighbours of each other counts twice. Cost: one search for the neighbours of all rows.
    """
    from scipy.sparse import coo_array

    n = points.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        return coo_array((n, n), dtype=np.float64).tocsr()
    tree = not given and not is_sparse(points) and suits_tree(*points.shape)
    index = NeighborIndex(
        points, None if given else Minkowski(2), "kd_tree" if tree else "brute", LEAF_SIZE
    )
    index.prepare()
    found = index.nearest(None, k + 1)
    here = np.repeat(np.arange(n), k + 1)
    there, distance = found.row.ravel(), found.distance.ravel()
    other = here != there
    # A row that is not among its own neighbours has one neighbour too many: the farthest.
    missing = np.flatnonzero(other.reshape(n, k + 1).all(axis=1))
    other[missing * (k + 1) + k] = False
    here, there, distance = here[other], there[other], distance[other]
    weight = np.ones(len(distance))
    if heat:
        scale = float(np.median(distance)) if bandwidth is None else bandwidth
        weight = np.exp(-0.5 * (distance / (scale or 1.0)) ** 2)
    W = coo_array((weight, (here, there)), shape=(n, n)).tocsr()
    return W.maximum(W.T).tocsr()


def laplacian(W: Any, row_weights: Array, normalised: bool) -> Any:
    """L with fᵀLf = E(f), a sparse symmetric matrix."""
    from scipy.sparse import diags_array

    v = np.asarray(row_weights, dtype=np.float64)
    degree = W @ v
    total = float(v @ degree)
    if not total > 0:
        return W * 0.0
    both = diags_array(v) @ W @ diags_array(v)
    L = diags_array(v * degree) - both
    if normalised:
        relative = degree * (v.sum() / total)
        root = 1.0 / np.sqrt(np.where(relative > 0, relative, 1.0))
        L = diags_array(root) @ L @ diags_array(root)
    return (L * (2.0 / total)).tocsr()
