"""Graphs of rows whose edge weights are similarities, w_ij ≥ 0.

nearest_neighbors        1 if both rows are among the k nearest of each other, 1/2 if one is
nearest_neighbors_rbf    exp(−γ‖x_i − x_j‖²) if one is among the k nearest of the other, else 0
a kernel                 k(x_i, x_j) for all pairs
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.predictor import in_double

SYMMETRY = 1e-10
"""Largest difference of two entries that count as equal, relative to the largest entry."""


def neighbour_affinity(X: Matrix, k: int, gamma: float | None, given: bool, who: str) -> Matrix:
    """The graph of the k nearest rows, of which each row itself is the first.

    Weights are those of the Gaussian kernel, or of connections if gamma is None. If ``given``, X
    holds distances. Cost: that of the search. Memory: at most 2k entries per row.
    """
    n = X.shape[0]
    if k > n:
        raise ParameterError(
            f"{who}: n_neighbors={k} must be at most the number of rows, because each row is "
            f"counted as its first neighbour, but n_samples = {n}. Use fewer neighbours or more "
            "rows."
        )
    metric = "precomputed" if given else "minkowski"
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(X)
    if gamma is None:
        graph = search.kneighbors_graph(X)
        return (0.5 * (graph + graph.T)).tocsr()
    graph = search.kneighbors_graph(X, mode="distance")
    graph.data = np.exp(-gamma * graph.data**2)
    return graph.maximum(graph.T).tocsr()


def kernel_affinity(X: Matrix, kernel: Kernel) -> Matrix:
    """The kernel of all pairs of rows. Cost: O(n²d), and n² numbers, which are checked first."""
    n = X.shape[0]
    require_kernel_matrix(n, n, np.float64, copies=3)
    return gram_of(kernel, in_double(X), np.arange(n))


def require_affinity(W: Any, n: int, who: str) -> Matrix:
    """The weights, symmetric, or an error that names what is wrong with them."""
    found: Any = W.tocsr() if is_sparse(W) else np.asarray(W)
    if found.shape != (n, n):
        raise DataError(
            f"{who}: affinities must be square, with one row and one column for each of {n} rows, "
            f"but their shape is {found.shape}. Pass a square matrix, or another affinity."
        )
    entries = found.data if is_sparse(found) else found
    if not np.isfinite(entries).all():
        raise DataError(
            f"{who}: affinities must be finite, but some are NaN or infinite. Use 0 for pairs "
            "without an edge."
        )
    if entries.min(initial=0.0) < 0:
        raise DataError(
            f"{who}: affinities must be ≥ 0, because they are weights of edges, but the smallest "
            f"is {entries.min():g}. Use a similarity that is not negative, such as 'rbf', or "
            "exp(-d**2) of distances d."
        )
    off = abs(found - found.T)
    largest = float(off.max()) if n else 0.0
    if largest > SYMMETRY * max(float(entries.max(initial=0.0)), 1e-300):
        warn(
            f"{who}: Array is not symmetric, and will be converted to symmetric by average with "
            f"its transpose. Entries differ by up to {largest:g}. Pass (W + W.T)/2."
        )
        found = 0.5 * (found + found.T)
    return found
