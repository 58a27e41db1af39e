"""The Laplacian of a graph, L = D − W, its normalised forms, and its smallest eigenvectors.

    symmetric      I − D^{−1/2} W D^{−1/2} = D^{−1/2}(D − W)D^{−1/2}, with eigenvectors v
    random walk    I − D⁻¹W, with the same eigenvalues and eigenvectors u = D^{−1/2}v

D holds the degrees, the sums of the edge weights of every row without its own. The number of
eigenvalues that are 0 is the number of connected components, and their eigenvectors are known: u
is constant on every component. u solves the generalised problem (D − W)u = λDu. As D⁻¹W holds the
probabilities of one step of a random walk on the graph, Σ_t u_t(1 − λ_t)^s describes how a
distribution diffuses in s steps; after many steps only the terms with small λ are large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.spectral.eigenvectors import smallest_eigenvectors

SHIFT = 1e-5
"""Added to the Laplacian, whose eigenvalues are between 0 and 2, before it is inverted."""


@dataclass(frozen=True)
class LaplacianEigen:
    """The smallest eigenvalues of a graph Laplacian, the eigenvalue 0 of constant vectors first."""

    values: Array
    """In ascending order; exactly 0 once for each connected component, as far as they fit."""
    vectors: Array
    """Orthonormal eigenvectors of the symmetric form as columns, (n, k). The entry of the largest
    size is positive. The first is D^{1/2}·1, up to its length."""
    roots: Array
    """Square roots of the degrees, 1 for rows without edges and without normalisation."""
    labels: Array
    """The connected component of every row, numbered from 0 in the order of first rows."""

    @property
    def n_connected(self) -> int:
        """Number of connected components."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def random_walk(self) -> Array:
        """Eigenvectors of the random-walk form, u = D^{−1/2}v, (n, k)."""
        return self.vectors / self.roots[:, None]


def laplacian_eigenvectors(
    affinity: Matrix,
    n: int,
    *,
    normalised: bool = True,
    tol: float = 0.0,
    seed: int = 0,
    whole: bool | None = None,
    who: str = "laplacian_eigenvectors",
) -> LaplacianEigen:
    """The n smallest eigenvalues of the Laplacian of a graph, and their eigenvectors.

    Parameters
    ----------
    affinity : array or sparse matrix of shape (rows, rows)
        Symmetric edge weights (W) that are not negative. Entries on the diagonal have no effect.
    n : int
        Number of eigenvectors, at most the number of rows.
    normalised : bool, default=True
        Whether to divide by the square roots of the degrees.
    tol : float, default=0.0
        Relative accuracy of the eigenvalues. 0 means nearly machine precision.
    seed : int, default=0
        Seed of the first vector of the iterations.
    whole : bool, optional
        Whether to compute all eigenvalues. By default for few rows.
    who : str
        Name of the caller in messages.
    """
    rows = int(affinity.shape[0])
    L, roots = laplacian(affinity, normalised)
    labels = connected_components(affinity)
    constant = constant_vectors(labels, roots)
    count = min(n, constant.shape[1])
    values, vectors = np.zeros(count), constant[:, :count]
    if n > count:
        scale = 1.0 if normalised else max(float(L.diagonal().mean()), 1e-300)
        more = smallest_eigenvectors(
            L, n - count, constant, shift=SHIFT * scale, tol=tol, whole=whole, seed=seed, who=who
        )
        values = np.concatenate([values, more.values])
        vectors = np.concatenate([vectors, more.vectors], axis=1)
    assert vectors.shape == (rows, n)
    return LaplacianEigen(values, vectors, roots, labels)


def laplacian(affinity: Matrix, normalised: bool = True) -> tuple[Matrix, Array]:
    """The symmetric Laplacian and the square roots of the degrees (1 if not normalised)."""
    from scipy.sparse import csr_array, diags_array

    rows = int(affinity.shape[0])
    if not is_sparse(affinity):
        W: Any = np.array(affinity, dtype=np.float64, order="C")
        np.einsum("ii->i", W)[:] = 0.0
        degree = W.sum(axis=1)
    else:
        W = csr_array(affinity, dtype=np.float64)
        W = W - diags_array(W.diagonal(), format="csr")
        degree = np.asarray(W.sum(axis=1)).ravel()
    roots = np.sqrt(np.where(degree > 0, degree, 1.0)) if normalised else np.ones(rows)
    if not is_sparse(W):
        W /= -roots[:, None]
        W /= roots
        np.einsum("ii->i", W)[:] = degree / roots**2
        return W, roots
    W.data /= -np.repeat(roots, np.diff(W.indptr)) * roots[W.indices]
    return (W + diags_array(degree / roots**2, format="csr")).tocsr(), roots


def connected_components(affinity: Matrix) -> Array:
    """The component of every row, numbered in the order of their first rows. Cost: O(edges)."""
    from scipy.sparse import csgraph

    graph = affinity if is_sparse(affinity) else np.asarray(affinity) != 0
    if not is_sparse(graph) and graph[0].all():  # one row is joined with all others
        return np.zeros(len(graph), dtype=np.int64)
    _, labels = csgraph.connected_components(graph, directed=False)
    first = np.unique(labels, return_index=True)[1]
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[labels]


def constant_vectors(labels: Array, roots: Array) -> Array:
    """Orthonormal eigenvectors of the eigenvalue 0, (n, c), of which the first is D^{1/2}·1.

    They span the vectors D^{1/2}·1_C of the components C. A reflection of the coordinates in this
    basis brings the vector of all rows to the first place.
    """
    count = int(labels.max(initial=0)) + 1
    mass = np.bincount(labels, roots**2, minlength=count)
    whole = np.sqrt(mass / mass.sum())
    mirror = whole.copy()
    mirror[0] += 1.0
    reflection = np.eye(count) - np.outer(mirror, mirror) / mirror[0]
    reflection[:, 0] *= -1.0
    return (roots / np.sqrt(mass)[labels])[:, None] * reflection[labels]
