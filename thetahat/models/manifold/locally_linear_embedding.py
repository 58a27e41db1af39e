"""Locally linear embedding: points that are reconstructed from neighbours as the rows are."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.spectral.eigenvectors import smallest_eigenvectors
from thetahat.mathematics.spectral.laplacian import connected_components
from thetahat.models.manifold.alignment import (
    hessian_alignment,
    modified_alignment,
    reconstruction_weights,
    standard_alignment,
    tangent_alignment,
)
from thetahat.models.manifold.neighbor_embedding import NeighborEmbedding, by_whole
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors

SHIFT = 1e-12
"""Added to the diagonal of the matrix before it is inverted, as a part of its mean diagonal."""


@with_parameters
class LocallyLinearEmbedding(NeighborEmbedding):
    """Locally linear embedding, with its modified, Hessian and tangent-space variants.

    Every row is written as a weighted mean of its neighbours. The points of the embedding are those
    that the same weights reconstruct best.

    Formula: the weights W minimise Σ_i ‖x_i − Σ_j W_ij x_j‖² over neighbours j, with Σ_j W_ij = 1.
    With M = (I − W)ᵀ(I − W) the points Z minimise tr(ZᵀMZ) with ZᵀZ = I and 1ᵀZ = 0: they are the
    eigenvectors of the smallest eigenvalues of M after the constant one. They are also the kernel
    principal components of the kernel λ_max·I − M, up to their lengths.

    Cost: the search for neighbours, O(n·k²(k + d)) for the weights, and one sparse factor of M.
    Memory: O(n·k²), and that of the factor.

    Parameters
    ----------
    reg : float, default=0.001
        Ridge penalty of the weights, as a multiple of the trace of the scalar products of the
        neighbours. It makes weights unique if there are more neighbours than columns; larger values
        make them more equal. Used by the methods "standard" and "modified", and by `transform`.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        Solver for the eigenvalues: "dense" computes them directly, "arpack" by Lanczos iterations
        with the inverse, which are faster for many rows. "auto" chooses by the sizes.
    tol : float, default=1e-06
        Relative accuracy of the Lanczos iterations. 0 means nearly machine precision.
    max_iter : int, default=100
        Maximum number of Lanczos iterations. If it is reached, all eigenvalues are computed.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        How the matrix M is made. "modified" uses several weight vectors for each row, which
        distorts less; "hessian" estimates second derivatives and needs more than
        n_components·(n_components + 3)/2 neighbours; "ltsa" aligns tangent spaces and needs at
        least n_components + 2 neighbours.
    hessian_tol : float, default=0.0001
        Has no effect, because the estimators of second derivatives always sum to 0. Accepted for
        compatibility with scikit-learn.
    modified_tol : float, default=1e-12
        Has no effect. Accepted for compatibility with scikit-learn.
    random_state : int, Generator, RandomState or None, default=None
        Has no effect, because the start of the iterations is fixed. Accepted for compatibility with
        scikit-learn.

    Attributes
    ----------
    reconstruction_error_ : float
        The sum of the eigenvalues of the embedding, tr(ZᵀMZ). For ``method="standard"`` it is the
        squared error with which the weights reconstruct the points.

    References
    ----------
    Roweis and Saul (2000), "Nonlinear dimensionality reduction by locally linear embedding",
    Science 290. Donoho and Grimes (2003), "Hessian eigenmaps", PNAS 100. Zhang and Wang (2006),
    "MLLE: modified locally linear embedding using multiple weights", NIPS 19. Zhang and Zha (2004),
    "Principal manifolds and nonlinear dimension reduction via local tangent space alignment".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> angle = np.linspace(0.0, 1.5 * np.pi, 60)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = th.LocallyLinearEmbedding(n_neighbors=4, n_components=1)
    >>> Z = model.fit_transform(arc)[:, 0]
    >>> bool((np.diff(Z) > 0).all() or (np.diff(Z) < 0).all())
    True
    """

    _: KW_ONLY
    n_neighbors: int = 5
    n_components: int = 2
    reg: float = 1e-3
    eigen_solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 100
    method: str = "standard"
    hessian_tol: float = 1e-4
    modified_tol: float = 1e-12
    neighbors_algorithm: Any = "auto"
    random_state: Any = None
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = NeighborEmbedding._ranges | {
        "reg": at_least(0),
        "eigen_solver": one_of("auto", "arpack", "dense"),
        "max_iter": whole(1),
        "method": one_of("standard", "hessian", "modified", "ltsa"),
        "hessian_tol": at_least(0),
        "modified_tol": at_least(0),
    }

    def fit(self, X: Any, y: Any = None) -> LocallyLinearEmbedding:
        """Compute the points of the training rows. Cost: O(n·k²(k + d)) and one sparse factor.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        """
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        n, k = source.n_rows, self.n_neighbors
        self._require_rows(n, k)
        self._require_method(source.n_features)
        if not np.ptp(source.X, axis=0).any():
            raise DataError(
                f"LocallyLinearEmbedding: all {n} rows of X are equal, so that there is no local "
                "structure to preserve. Give rows that differ."
            )
        require_memory(
            6 * 8 * n * (k + 1) ** 2, f"LocallyLinearEmbedding: {n} matrices of {k} neighbours",
            "Use fewer rows or neighbours.",
        )  # fmt: skip
        search = NearestNeighbors(n_neighbors=k, algorithm=self.neighbors_algorithm)
        self.nbrs_ = search.fit(source.X)
        neighbors = self.nbrs_._nearest(None).row
        M = self._alignment(np.asarray(source.X, dtype=np.float64), neighbors)
        self._report_components(neighbors)
        found = smallest_eigenvectors(
            M, self.n_components, np.full((n, 1), 1.0 / np.sqrt(n)),
            shift=SHIFT * max(float(M.diagonal().mean()), 1e-300), tol=self.tol,
            max_iter=self.max_iter, whole=by_whole(self.eigen_solver), who="LocallyLinearEmbedding",
        )  # fmt: skip
        self.embedding_ = found.vectors.astype(source.X.dtype, copy=False)
        self.reconstruction_error_ = float(found.values.sum())
        return self

    def _require_method(self, d: int) -> None:
        k, q = self.n_neighbors, self.n_components
        who = "LocallyLinearEmbedding"
        if q > d:
            raise ParameterError(
                f"{who}: output dimension must be less than or equal to input dimension, but "
                f"n_components={q} and X has {d} columns. Use fewer components."
            )
        least, rule = {
            "hessian": (
                q * (q + 3) // 2 + 1,
                "greater than [n_components * (n_components + 3) / 2]",
            ),
            "modified": (q, "at least n_components"),
            "ltsa": (q + 2, "at least n_components + 2"),
        }.get(self.method, (1, ""))  # fmt: skip
        if k < least:
            raise ParameterError(
                f"{who}: for method={self.method!r}, n_neighbors must be {rule}, but "
                f"n_neighbors={k} and n_components={q}. Use {least} neighbours or more."
            )
        if self.method == "modified" and self.reg == 0:
            raise ParameterError(
                f"{who}: for method='modified', reg must be positive, but reg=0. Use reg=1e-3."
            )

    def _alignment(self, X: Array, neighbors: Array) -> Matrix:
        """The matrix M of the method."""
        if self.method == "standard":
            return standard_alignment(X, neighbors, self.reg, "LocallyLinearEmbedding")
        if self.method == "modified":
            return modified_alignment(X, neighbors, self.n_components, self.reg)
        make = hessian_alignment if self.method == "hessian" else tangent_alignment
        return make(X, _covering(neighbors), self.n_components)

    def _report_components(self, neighbors: Array) -> None:
        from scipy.sparse import csr_array

        n, k = neighbors.shape
        graph = csr_array((np.ones(n * k), neighbors.ravel(), np.arange(n + 1) * k), shape=(n, n))
        count = int(connected_components(graph).max(initial=0)) + 1
        if count > 1:
            warn(
                f"LocallyLinearEmbedding: The number of connected components of the neighbors "
                f"graph is {count} > 1, so that columns of the embedding separate the components "
                "instead of describing positions within them. Use more neighbours, or embed each "
                "component on its own."
            )

    def _transform_block(self, block: Block) -> Array:
        found = self.nbrs_._nearest(block.X)
        rows = np.asarray(block.X, dtype=np.float64)
        others = np.asarray(self.nbrs_._index.rows, dtype=np.float64)
        weights = reconstruction_weights(rows, others, found.row, self.reg, type(self).__name__)
        return np.einsum("ij,ijk->ik", weights, self.embedding_[found.row])


def _covering(neighbors: Array) -> Array:
    """Neighbourhoods in which every row occurs, without which its point would be arbitrary.

    A row that is the neighbour of no other row takes the place of the last row of its own
    neighbourhood.
    """
    found = neighbors.copy()
    while (alone := np.setdiff1d(np.arange(len(found)), found)).size:
        found[alone, -1] = alone
    return found
