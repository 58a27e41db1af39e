"""Laplacian eigenmaps: coordinates of rows that change little along the edges of a graph."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.mathematics.spectral.laplacian import LaplacianEigen, laplacian_eigenvectors
from thetahat.models.manifold.affinities import kernel_affinity
from thetahat.models.manifold.graph_model import NEIGHBOURS, GraphModel


@with_parameters
class SpectralEmbedding(GraphModel):
    """Laplacian eigenmaps: rows that are joined by an edge are near in the embedding.

    Formula: with edge weights W and degrees D = diag(Σ_j w_ij), the columns u of the embedding are
    the eigenvectors of L = I − D⁻¹W with the smallest eigenvalues, without the constant one. They
    minimise Σ_ij w_ij(u_i − u_j)² under uᵀDu = 1.

    D⁻¹W holds the probabilities of one step of a random walk along the edges. After s steps,
    column t is multiplied by (1 − λ_t)^s (`diffusion_steps`), and with all columns the squared
    distance of two rows is the diffusion distance Σ_j (P^s_ij − P^s_kj)²/d_j with P = D⁻¹W. After
    many steps only columns with small λ are large.

    Cost: that of the neighbour search and of one sparse factorisation; O(n²d) and O(n³) for kernels
    of all pairs, whose memory is checked first.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Must be at least 1 and less than the number of rows.
    affinity : {"nearest_neighbors", "nearest_neighbors_rbf", "rbf", "precomputed", \
"precomputed_nearest_neighbors"}, Kernel or callable, default="nearest_neighbors"
        The edge weights. "nearest_neighbors" joins every row with its nearest rows;
        "nearest_neighbors_rbf" gives these edges the weights exp(−γ‖x_i − x_j‖²), and "rbf" gives
        them to all pairs. "precomputed" means that X holds the weights, and
        "precomputed_nearest_neighbors" that X holds distances, of which the nearest are used. A
        value of ``th.kernels`` or a function of all rows gives the weights of all pairs.
    gamma : float or None, default=None
        The factor γ of the Gaussian weights. Larger values join near rows only. None means 1/d for
        d columns. Must be positive.
    n_neighbors : int or None, default=None
        Number of neighbours of each row. The row itself is counted as the first. More neighbours
        give a smoother embedding and a graph that is less likely to be disconnected. None means a
        tenth of the rows.
    diffusion_steps : int, default=0
        Number of steps of the random walk (s). More steps shrink columns with large eigenvalues,
        so that distances show coarse structure only. 0 leaves the eigenvectors as they are.

    Attributes
    ----------
    n_neighbors_ : int
        Number of neighbours that was used. Defined only for graphs of neighbours.
    gamma_ : float
        The factor γ that was used. Defined only for ``affinity="rbf"``.

    References
    ----------
    Belkin and Niyogi (2003), "Laplacian eigenmaps for dimensionality reduction and data
    representation", Neural Computation 15.
    Coifman and Lafon (2006), "Diffusion maps", Applied and Computational Harmonic Analysis 21.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> model = th.SpectralEmbedding(1, affinity="precomputed").fit(path)
    >>> model.embedding_[:, 0].round(4).tolist(), model.eigenvalues_.round(6).tolist()
    ([0.5774, 0.2887, -0.2887, -0.5774], [0.5])
    """

    n_components: int = 2
    _: KW_ONLY
    affinity: Any = "nearest_neighbors"
    gamma: float | None = None
    n_neighbors: int | None = None
    diffusion_steps: int = 0

    _ranges: ClassVar[dict[str, Range]] = GraphModel._ranges | {
        "n_components": whole(1),
        "affinity": one_of(*NEIGHBOURS, "rbf", "precomputed")
        | Range(
            lambda value: isinstance(value, Kernel) or callable(value),
            "a value of th.kernels or a function of all rows",
        ),
        "diffusion_steps": whole(0),
    }

    _left_out = 1
    """Number of eigenvectors before those of the embedding: the constant one."""

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Compute the graph and its eigenvectors. Cost: see `SpectralEmbedding`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or edge weights or distances of shape (n, n) for the precomputed
            affinities.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted embedding.
        """
        source, W = self._edges(X)
        found = self._eigenvectors(W)
        self.eigenvalues_ = found.values[1:]
        points = with_fixed_signs(found.random_walk[:, 1:].T).T
        if self.diffusion_steps:
            points = points * (1.0 - self.eigenvalues_) ** self.diffusion_steps
        self.embedding_ = self._cast(points, source)
        return self

    def _eigenvectors(self, W: Matrix, normalised: bool = True) -> LaplacianEigen:
        """The eigenvectors of the embedding and those that are left out; sets ``n_connected_``."""
        n = self.n_components + self._left_out
        found = laplacian_eigenvectors(
            W, n, normalised=normalised, tol=self._tolerance, who="SpectralEmbedding"
        )
        self.n_connected_ = found.n_connected
        if found.n_connected > 1:
            warn(
                "SpectralEmbedding: Graph is not fully connected, spectral embedding may not work "
                f"as expected. It has {found.n_connected} components, and the first "
                f"{found.n_connected - 1} columns show only which component a row belongs to. Use "
                "more neighbours or a smaller gamma, or embed each component on its own."
            )
        return found

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the embedding, and return the points of the rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or edge weights or distances of shape (n, n) for the precomputed
            affinities.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n, n_components)
            The points, ``embedding_``.
        """
        points: Array = self.fit(X).embedding_
        return points

    def _require_rows(self, n: int) -> None:
        if self.n_components + self._left_out > n:
            rule = "at most the number of rows"
            if self._left_out:
                rule = "less than the number of rows, because the constant eigenvector is left out"
            raise ParameterError(
                f"SpectralEmbedding: n_components={self.n_components} must be {rule}, but "
                f"n_samples = {n}. Use fewer components or more rows."
            )

    def _count_neighbours(self, n: int) -> int:
        self.n_neighbors_ = max(n // 10, 1) if self.n_neighbors is None else self.n_neighbors
        return self.n_neighbors_

    def _similarities(self, X: Matrix) -> Matrix:
        if self._affinity_name == "rbf":
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
            return kernel_affinity(X, RBF(gamma=self.gamma_))
        if isinstance(self.affinity, Kernel):
            return kernel_affinity(X, self.affinity)
        found = self.affinity(X)
        try:
            return np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                "SpectralEmbedding: the function affinity must return a matrix of numbers, with "
                f"one row and one column per row of X, but it returned {found!r:.60}. Use another "
                "function, or a name such as 'rbf'."
            ) from error
