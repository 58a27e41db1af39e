"""Spectral clustering: clusters of the eigenvectors of a graph that joins similar rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin, clone

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, real, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.mathematics.spectral.laplacian import LaplacianEigen, laplacian_eigenvectors
from thetahat.models.cluster.k_means import KMeans
from thetahat.models.cluster.rotations import in_order_of_rows, labels_by_pivots, labels_by_turns
from thetahat.models.kernel.parameters import kernel_of
from thetahat.models.manifold.affinities import kernel_affinity
from thetahat.models.manifold.graph_model import GIVEN, GraphModel

_clusterer = Range(
    lambda value: hasattr(value, "fit_predict") and hasattr(value, "get_params"),
    "a clusterer with fit_predict, such as th.GaussianMixture(3)",
)


@with_parameters
class SpectralClustering(ClusterMixin, GraphModel):
    """Spectral clustering: k-means or another clustering of eigenvectors of a graph.

    Rows are joined by edges whose weights are similarities. Clusters are groups with heavy edges
    inside and light edges between them, of any shape, such as rings around each other.

    Formula: with edge weights W and degrees D = diag(Σ_j w_ij), row i has the coordinates
    z_i = (u_1i, …, u_pi), where u_1, …, u_p are the eigenvectors of L = I − D⁻¹W with the smallest
    eigenvalues. The number of eigenvalues that are 0 is the number of connected components, on each
    of which these eigenvectors are constant. The rows z_i are then clustered.

    Cost: that of the neighbour search and of one sparse factorisation for graphs of neighbours;
    O(n²d) and O(n³) for kernels of all pairs, whose memory is checked first; then that of k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k). Must be at least 1 and at most the number of rows.
    n_components : int or None, default=None
        Number of eigenvectors that are clustered (p). More of them show finer structure and more
        noise. None means `n_clusters`. Must be at most the number of rows.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts of k-means and of "discretize". Pass an int for the same result on every
        call.
    n_init : int, default=10
        Number of starts of k-means or of "discretize", of which the best is kept. More starts take
        longer and are less likely to end in a poor local optimum.
    gamma : float, default=1.0
        The factor γ of a kernel that is given by name, such as exp(−γ‖x − z‖²) for "rbf", also for
        "nearest_neighbors_rbf". Larger values join near rows only. Must be positive.
    affinity : str, Kernel or callable, default="rbf"
        The edge weights. "nearest_neighbors" joins every row with its nearest rows;
        "nearest_neighbors_rbf" gives these edges the weights exp(−γ‖x_i − x_j‖²), and "rbf" gives
        them to all pairs. "precomputed" means that X holds the weights, and
        "precomputed_nearest_neighbors" that X holds distances, of which the nearest are used. Other
        kernels are given by name, by a value of ``th.kernels`` or by a function of two rows; their
        values must not be negative.
    n_neighbors : int, default=10
        Number of neighbours of each row. The row itself is counted as the first. More neighbours
        join more distant rows. Only used for graphs of neighbours.
    assign_labels : {"kmeans", "discretize", "cluster_qr"} or clusterer, default="kmeans"
        How the coordinates are clustered: by k-means (kmeans), by alternating between labels and a
        rotation of the eigenvectors (discretize), by one rotation that is computed from a QR
        factorisation without iterations (cluster_qr), or by a model with `fit_predict` such as
        ``th.GaussianMixture(3)``. "discretize" and "cluster_qr" give at most `n_components`
        clusters, and may give fewer.
    degree : float, default=3
        The degree of the "polynomial" kernel, a whole number. Other kernels ignore it.
    coef0 : float, default=1
        The constant term of the "polynomial" and "sigmoid" kernels. Other kernels ignore it.
    kernel_params : dict or None, default=None
        Further arguments of a kernel that is given as a function. None means no arguments.
    verbose : bool, default=False
        Whether to print the steps and the loss of k-means. False prints nothing.
    laplacian : {"random_walk", "symmetric", "unnormalized"}, default="random_walk"
        The matrix whose eigenvectors are used: I − D⁻¹W; I − D^{−1/2}WD^{−1/2} with rows of the
        eigenvectors scaled to length 1; or D − W, which gives poor results if the degrees differ
        much.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The number of the cluster of each training row, in the order of their first rows.

    References
    ----------
    Shi and Malik (2000), "Normalized cuts and image segmentation", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 22.
    Ng, Jordan and Weiss (2001), "On spectral clustering: analysis and an algorithm".
    von Luxburg (2007), "A tutorial on spectral clustering", Statistics and Computing 17.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> angle = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([circle, 3 * circle])
    >>> model = th.SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=5).fit(rings)
    >>> len(set(model.labels_[:40])), len(set(model.labels_[40:])), model.n_connected_
    (1, 1, 2)
    """

    _prints_itself = True

    n_clusters: int = 8
    _: KW_ONLY
    n_components: int | None = None
    n_init: int = 10
    gamma: float = 1.0
    affinity: Any = "rbf"
    n_neighbors: int = 10
    assign_labels: Any = "kmeans"
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None
    verbose: Any = False
    laplacian: str = "random_walk"

    _ranges: ClassVar[dict[str, Range]] = GraphModel._ranges | {
        "n_clusters": whole(1),
        "n_components": whole(1) | none,
        "n_init": whole(1),
        "affinity": Range(
            lambda value: isinstance(value, str | Kernel) or callable(value),
            "a name, a value of th.kernels or a function of two rows",
        ),
        "n_neighbors": whole(1),
        "assign_labels": one_of("kmeans", "discretize", "cluster_qr") | _clusterer,
        "degree": at_least(0),
        "coef0": real,
        "kernel_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
        "verbose": boolean | whole(0),
        "laplacian": one_of("random_walk", "symmetric", "unnormalized"),
    }
    _draws_rows = True

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Compute the graph, its eigenvectors and the clusters. Cost: see `SpectralClustering`.

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
            The fitted clustering.
        """
        source, W = self._edges(X)
        if source.n_rows == source.n_features and self._affinity_name not in GIVEN:
            warn(
                f"SpectralClustering: X is square, and its {source.n_rows} columns are taken as "
                "columns of rows. If X holds affinities, use affinity='precomputed'."
            )
        p = self._width
        found = laplacian_eigenvectors(
            W,
            p,
            normalised=self.laplacian != "unnormalized",
            tol=self._tolerance,
            who="SpectralClustering",
        )
        self.n_connected_, self.eigenvalues_ = found.n_connected, found.values
        if found.n_connected > p:
            warn(
                f"SpectralClustering: Graph is not fully connected: it has {found.n_connected} "
                f"components, more than the {p} eigenvectors that are clustered, so that some "
                "components are joined by chance. Use more neighbours, a smaller gamma or more "
                "clusters."
            )
        points = self._points(found)
        self.embedding_ = self._cast(points, source)
        self.labels_ = self._labels(points)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit the clustering, and return the cluster of every row. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or edge weights or distances of shape (n, n) for the precomputed
            affinities.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n,)
            The number of the cluster of each row, ``labels_``.
        """
        labels: Array = self.fit(X).labels_
        return labels

    def _points(self, found: LaplacianEigen) -> Array:
        if self.laplacian == "symmetric":
            length = np.linalg.norm(found.vectors, axis=1, keepdims=True)
            return found.vectors / np.where(length > 0, length, 1.0)
        return with_fixed_signs(found.random_walk.T).T

    def _labels(self, points: Array) -> Array:
        """Cluster the rows of the eigenvectors."""
        how = self.assign_labels
        if self.verbose:
            print(f"Computing label assignment using {how}")
        if how == "cluster_qr":
            return in_order_of_rows(labels_by_pivots(points))
        random = generator(self.random_state)
        if how == "discretize":
            return in_order_of_rows(labels_by_turns(points, random, self.n_init))
        if how == "kmeans":
            options = {"n_init": self.n_init, "verbose": self.verbose, "random_state": random}
            # Starts that reach the same clusters number them differently.
            return in_order_of_rows(KMeans(self.n_clusters, **options).fit(points).labels_)
        return np.asarray(clone(how).fit_predict(points))

    @property
    def _width(self) -> int:
        """Number of eigenvectors (p)."""
        return self.n_clusters if self.n_components is None else self.n_components

    def _require_rows(self, n: int) -> None:
        for name, count in (("n_clusters", self.n_clusters), ("n_components", self._width)):
            if count > n:
                raise ParameterError(
                    f"SpectralClustering: {name}={count} must be at most the number of rows, but "
                    f"n_samples = {n}. Use fewer clusters and components, or more rows."
                )

    def _count_neighbours(self, n: int) -> int:
        return self.n_neighbors

    def _similarities(self, X: Matrix) -> Matrix:
        try:
            kernel = kernel_of(
                self.affinity, X.shape[1], self.gamma, self.degree, self.coef0, self.kernel_params
            )
        except ParameterError as failure:
            words = str(failure).replace("kernel=", "affinity=", 1)
            raise ParameterError(f"SpectralClustering: {words}") from None
        return kernel_affinity(X, kernel)
