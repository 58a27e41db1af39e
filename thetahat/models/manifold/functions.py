"""Embeddings as functions: a call fits a model of this folder and returns its points."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.models.manifold.locally_linear_embedding import LocallyLinearEmbedding
from thetahat.models.manifold.mds import MDS
from thetahat.models.manifold.spectral_embedding import SpectralEmbedding
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors


def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[Array, float]:
    """Find points that the weights of neighbours reconstruct best, as `LocallyLinearEmbedding`.

    Formula: with weights W that minimise Σ_i ‖x_i − Σ_j W_ij x_j‖², Σ_j W_ij = 1, and
    M = (I − W)ᵀ(I − W), the points Z minimise tr(ZᵀMZ) with ZᵀZ = I and 1ᵀZ = 0. Cost: the search
    for neighbours, O(n·k²(k + d)) and one sparse factor; see `LocallyLinearEmbedding`, which also
    embeds new rows.

    Parameters
    ----------
    X : array-like, table or NearestNeighbors of shape (n, d)
        The rows with finite numbers, or a search for neighbours that was fitted to them.
    n_neighbors : int
        Number of neighbours of every row (k). Must be less than the number of rows.
    n_components : int
        Number of dimensions of the embedding. Must be at most the number of columns.
    reg : float, default=0.001
        Ridge penalty of the weights, as a multiple of the trace of the scalar products of the
        neighbours.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        Solver for the eigenvalues: all of them directly, or Lanczos iterations. "auto" chooses by
        the sizes.
    tol : float, default=1e-06
        Relative accuracy of the Lanczos iterations. 0 means nearly machine precision.
    max_iter : int, default=100
        Maximum number of Lanczos iterations. If it is reached, all eigenvalues are computed.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        How the matrix M is made, as in `LocallyLinearEmbedding`.
    hessian_tol, modified_tol : float
        Have no effect. Accepted for compatibility with scikit-learn.
    random_state : int, Generator, RandomState or None, default=None
        Has no effect, because the start of the iterations is fixed. Accepted for compatibility with
        scikit-learn.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Returns
    -------
    Y : array of shape (n, n_components)
        The points of the rows (Z).
    squared_error : float
        The sum of the eigenvalues, tr(ZᵀMZ).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> angle = np.linspace(0.0, 1.5 * np.pi, 60)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Z, error = th.functions.locally_linear_embedding(arc, n_neighbors=4, n_components=1)
    >>> step = np.diff(Z[:, 0])
    >>> bool((step > 0).all() or (step < 0).all())
    True
    """
    # Of a search, ours or scikit-learn's, the rows are used.
    rows = X._index.rows if isinstance(X, NearestNeighbors) else getattr(X, "_fit_X", X)
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(rows)
    return model.embedding_, model.reconstruction_error_


def smacof(
    dissimilarities: Any,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: Any = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: Any = 0,
    eps: float = 1e-6,
    random_state: Any = None,
    return_n_iter: bool = False,
    normalized_stress: Any = "auto",
) -> tuple[Any, ...]:
    """Find points whose distances approximate given dissimilarities, as `MDS` does.

    Formula: the points minimise S = Σ_{i<j} (δ_ij − ‖z_i − z_j‖)². With ``metric=False`` only the
    order of the dissimilarities counts: δ is replaced by the monotone values of it that are nearest
    to the distances. Cost: O(n²) time per iteration for each component, and four matrices of n²
    numbers; see `MDS`, which also computes the dissimilarities from rows.

    Parameters
    ----------
    dissimilarities : array-like of shape (n, n)
        The dissimilarities of all pairs (δ): symmetric, at least 0, and 0 on the diagonal.
    metric : bool, default=True
        Whether the dissimilarities are to be approximated themselves. False uses their order only.
    n_components : int, default=2
        Number of dimensions of the points. It is that of `init` if that is given.
    init : array-like of shape (n, n_components), optional
        The first points. One run is made from these. None draws random points.
    n_init : int, default=1
        Number of random starts, of which the one with the least stress is kept.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    max_iter : int, default=300
        Maximum number of iterations of each start.
    verbose : int, default=0
        Whether to print the progress. 0 prints nothing.
    eps : float, default=1e-06
        A start ends when an iteration lowers the stress by less than this multiple of the sum of
        the squared distances.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. Pass an int for the same result on every call.
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.
    normalized_stress : bool or "auto", default="auto"
        Whether the stress is √(S/Σ_{i<j} d_ij²), which does not depend on units. "auto" means True
        for ``metric=False``.

    Returns
    -------
    X : array of shape (n, n_components)
        The points of the best start.
    stress : float
        The stress of these points.
    n_iter : int
        Number of iterations of the best start, with ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> Z, stress = th.functions.smacof(D, random_state=0, eps=1e-12)
    >>> th.distances.Euclidean().pairwise(Z).round(3)[0].tolist(), round(stress, 6)
    ([0.0, 3.0, 4.0], 0.0)
    """
    if np.ndim(init) == 2:
        n_components = np.shape(init)[1]
    model = MDS(
        n_components,
        metric_mds=metric,
        metric="precomputed",
        n_init=n_init,
        init="random",
        max_iter=max_iter,
        verbose=verbose,
        eps=eps,
        n_jobs=n_jobs,
        random_state=random_state,
        normalized_stress=normalized_stress,
    ).fit(dissimilarities, init=init)
    found = model.embedding_, model.stress_
    return (*found, model.n_iter_) if return_n_iter else found


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: Any = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Array:
    """Find coordinates of nodes that change little along the edges, as `SpectralEmbedding` does.

    Formula: with edge weights W and degrees D = diag(Σ_j w_ij), the columns are the eigenvectors of
    I − D⁻¹W, or of D − W with ``norm_laplacian=False``, with the smallest eigenvalues. Cost: one
    sparse factor of W, or O(n³) for dense weights; see `SpectralEmbedding`, which also computes the
    weights from rows.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n, n)
        The edge weights (W): symmetric and at least 0. Its diagonal has no effect.
    n_components : int, default=8
        Number of dimensions. It must be less than the number of nodes, or at most that number with
        ``drop_first=False``.
    eigen_solver : {"arpack", "lobpcg", "amg"} or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn.
    random_state : int, Generator, RandomState or None, default=None
        Has no effect, because the start of the iterations is fixed. Accepted for compatibility with
        scikit-learn.
    eigen_tol : float or "auto", default="auto"
        Relative accuracy of the eigenvalues. "auto" and 0 mean nearly machine precision.
    norm_laplacian : bool, default=True
        Whether to divide by the degrees of the nodes. Without it, nodes with many edges dominate.
    drop_first : bool, default=True
        Whether to leave out the first eigenvector, which is constant for a connected graph. False
        keeps it, as for spectral clustering.

    Returns
    -------
    embedding : array of shape (n, n_components)
        The coordinates of the nodes. The largest entry of each column is positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> th.functions.spectral_embedding(path, n_components=1)[:, 0].round(4).tolist()
    [0.5774, 0.2887, -0.2887, -0.5774]
    """
    model = SpectralEmbedding(
        n_components, affinity="precomputed", eigen_solver=eigen_solver, eigen_tol=eigen_tol,
        random_state=random_state,
    )  # fmt: skip
    model._left_out = int(drop_first)
    source, W = model._edges(adjacency)
    found = model._eigenvectors(W, normalised=norm_laplacian)
    points = with_fixed_signs(found.random_walk[:, model._left_out :].T).T
    return model._cast(points, source)
