"""Isomap: classical scaling of distances along the surface on which the rows lie."""

from __future__ import annotations

from dataclasses import KW_ONLY
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import in_type_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, infinity, more_than, none, one_of, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.spectral.scaling import Scaling, classical_scaling
from thetahat.models.kernel.kernel_pca import KernelPCA
from thetahat.models.manifold.geodesics import Edges, geodesic_distances
from thetahat.models.manifold.neighbor_embedding import NeighborEmbedding, by_whole
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors

ENTRIES_AT_ONCE = 1 << 20
"""Distances of new rows to all training rows that are computed together."""


@with_parameters
class Isomap(NeighborEmbedding):
    """Isometric mapping: points whose distances are those along the surface of the rows.

    Neighbours are joined by edges of their distance. Shortest paths in this graph approximate
    distances along a curved surface, which classical scaling turns into points of a plane. A graph
    that is not connected is reported with the number of its components, which are then joined by
    edges between the nearest rows of every two.

    Formula: with the lengths g_ij of the shortest paths, A_ij = −g_ij²/2 and
    K = (I − 11ᵀ/n)A(I − 11ᵀ/n) = VΛVᵀ, the points are z_i = (√λ_1·v_1i, …, √λ_k·v_ki). A new row
    is placed at z = Λ^{−1/2}Vᵀ(a − ā) by its paths through its neighbours, where ā are the means of
    the rows of A.

    Cost: the search for neighbours, O(n²k log n) for the paths, and O(n²) per Lanczos iteration;
    two matrices of n² numbers, whose size is checked first.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Number of neighbours of every row (k). Few neighbours follow a curved surface closely but
        may not connect all rows; many may connect rows across a gap. Must be at least 1 and less
        than the number of rows, or None if `radius` is given.
    radius : float or None, default=None
        Rows within this distance are neighbours, in place of a fixed number. Only with
        ``n_neighbors=None``.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        Solver for the eigenvalues: "dense" computes them directly, "arpack" by Lanczos iterations,
        which are faster for few components. "auto" chooses by the sizes.
    path_method : {"auto", "FW", "D"}, default="auto"
        Has no effect: all paths are found by Dijkstra's algorithm. Accepted for compatibility with
        scikit-learn, where the methods find the same paths.
    metric : str, Distance or callable, default="minkowski"
        The distance between rows: a name or a value of ``th.distances``, a function of two rows, or
        "precomputed" if X holds distances. Of a sparse matrix of distances, as
        `KNeighborsTransformer` gives it, only stored entries are neighbours.
    p : float, default=2
        Power of the Minkowski distance, used with ``metric="minkowski"``: 1 is the Manhattan
        distance, 2 the Euclidean distance. Must be positive.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"V": covariance}`` for "mahalanobis".

    Attributes
    ----------
    dist_matrix_ : array of shape (n, n)
        The lengths of the shortest paths between the training rows (g).
    eigenvalues_ : array of shape (n_components,)
        The largest eigenvalues of the centred matrix in descending order (λ). Where one is not
        positive, the column of the embedding is 0.
    kernel_pca_ : KernelPCA
        Kernel principal components of the matrix A, which are the points of the training rows. It
        is made whenever it is used.

    References
    ----------
    Tenenbaum, de Silva and Langford (2000), "A global geometric framework for nonlinear
    dimensionality reduction", Science 290.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> angle = np.linspace(0.0, np.pi, 50)
    >>> half_circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = th.Isomap(n_neighbors=2, n_components=1).fit(half_circle)
    >>> round(float(np.ptp(model.embedding_)), 2)
    3.14
    """

    _: KW_ONLY
    n_neighbors: int | None = 5  # type: ignore[assignment]
    radius: float | None = None
    n_components: int = 2
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    path_method: str = "auto"
    neighbors_algorithm: Any = "auto"
    n_jobs: int | None = None
    metric: Any = "minkowski"
    p: float = 2
    metric_params: Any = None

    _ranges: ClassVar[dict[str, Range]] = NeighborEmbedding._ranges | {
        "n_neighbors": none | whole(1),
        "radius": none | at_least(0) | infinity,
        "eigen_solver": one_of("auto", "arpack", "dense"),
        "path_method": one_of("auto", "FW", "D"),
        "p": more_than(0) | infinity,
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
    }
    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags

    def fit(self, X: Any, y: Any = None) -> Isomap:
        """Compute the points of the training rows. Cost: O(n²k log n).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        """
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        self._require_one_rule()
        n = source.n_rows
        self._require_rows(n, self.n_neighbors)
        require_memory(3 * 8 * n * n, f"Isomap: the paths between {n} rows", "Use fewer rows.")
        self.nbrs_ = self._search().fit(source.X)
        index = self.nbrs_._index
        given = index.distance is None and is_sparse(index.rows)
        D = geodesic_distances(self._edges(), index, given, "Isomap")
        if not 1e-140 <= (largest := float(D.max())) <= 1e140 and largest:
            raise DataError(
                f"Isomap: the distances between rows of X (up to {largest:.2g}) underflow or "
                "overflow in squares. Rescale X, so that distances are near 1."
            )
        in_type_of_rows(D.max(keepdims=True), source.X.dtype, "dist_matrix_", "Isomap")
        found = classical_scaling(
            D, self.n_components, tol=self.tol, max_iter=self.max_iter,
            whole=by_whole(self.eigen_solver),
        )  # fmt: skip
        self.dist_matrix_ = D.astype(source.X.dtype, copy=False)
        self.embedding_ = found.points.astype(source.X.dtype, copy=False)
        self.eigenvalues_ = found.values
        self._vectors, self._means, self._square = found.vectors, found.means, found.square
        return self

    def _require_one_rule(self) -> None:
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError(
                "Isomap: Both n_neighbors and radius are provided, but only one of them can say "
                f"which rows are neighbours. Use Isomap(radius={self.radius}, n_neighbors=None) "
                "for neighbours within the radius."
            )
        if self.n_neighbors is None and self.radius is None:
            raise ParameterError(
                "Isomap: n_neighbors and radius are both None, so that no row has neighbours. Give "
                "one of them."
            )

    def _search(self) -> NearestNeighbors:
        options = dict(
            algorithm=self.neighbors_algorithm, metric=self.metric, p=self.p,
            metric_params=self.metric_params,
        )  # fmt: skip
        if self.n_neighbors is None:
            assert self.radius is not None
            return NearestNeighbors(radius=self.radius, **options)
        return NearestNeighbors(n_neighbors=self.n_neighbors, **options)

    def _edges(self) -> Edges:
        """The edges from every training row to its neighbours."""
        if self.n_neighbors is not None:
            found = self.nbrs_._nearest(None)
            begin = np.repeat(np.arange(len(found.row)), found.row.shape[1])
            return Edges(begin, found.row.ravel(), found.distance.ravel())
        within = self.nbrs_._within(None)
        begin = np.repeat(np.arange(len(within.counts)), within.counts)
        return Edges(begin, within.row, within.distance)

    def _transform_block(self, block: Block) -> Array:
        scaling = Scaling(self.eigenvalues_, self._vectors, self._means, self._square)
        n, m = len(self._means), int(block.X.shape[0])
        out, step = np.empty((m, len(self.eigenvalues_))), max(1, ENTRIES_AT_ONCE // n)
        for start in range(0, m, step):
            some = slice(start, start + step)
            out[some] = scaling.place(self._paths(block.X[some]))
        return out

    def _paths(self, rows: Matrix) -> Array:
        """The lengths of the shortest paths of new rows to all training rows, (m, n)."""
        D = self.dist_matrix_
        if self.n_neighbors is not None:
            found = self.nbrs_._nearest(rows)
            best = D[found.row[:, 0]] + found.distance[:, :1]
            for each in range(1, found.row.shape[1]):
                np.minimum(best, D[found.row[:, each]] + found.distance[:, each, None], out=best)
            return best
        within = self.nbrs_._within(rows)
        if not within.counts.all():
            raise DataError(
                f"Isomap: row {int(np.argmin(within.counts))} of X has no training row within "
                f"radius={self.radius:g}, so that it cannot be placed. Use a larger radius, or "
                "n_neighbors."
            )
        through = D[within.row] + within.distance[:, None]
        return np.minimum.reduceat(through, within.offsets[:-1], axis=0)

    @property
    def kernel_pca_(self) -> KernelPCA:
        """Kernel principal components of A = −g²/2, which are the points of the training rows.

        Negative eigenvalues are 0. Cost: O(n²) time and memory, whenever it is used.
        """
        check_is_fitted(self)
        A = -0.5 * np.square(self.dist_matrix_, dtype=np.float64)
        found = KernelPCA(self.n_components, kernel="precomputed")
        source = found._open(A, supervised=False)
        found.kernel_, found.gamma_ = found._kernel(source), 1.0 / len(A)
        found.X_fit_, found._means = A, self._means
        found.eigenvalues_ = np.maximum(self.eigenvalues_, 0.0)
        found.eigenvectors_ = self._vectors
        return found

    def reconstruction_error(self) -> float:
        """The part of the centred matrix that the embedding does not express.

        Formula: ‖K − ZZᵀ‖/n in the Frobenius norm, where Z holds the points and K is the centred
        matrix of the squared lengths of the paths. Cost: O(1).

        Returns
        -------
        float
            The error, 0 if the distances of the points are the lengths of all paths.
        """
        kept = np.maximum(self.eigenvalues_, 0.0)
        return sqrt(max(0.0, self._square - float(kept @ kept))) / len(self._means)
