"""Embeddings that keep the neighbours of every row, and place new rows among the training rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, none, one_of, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.neighbors.search.graph import ApproximateSearch
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class NeighborEmbedding(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Points in few dimensions for rows of which only the neighbours are compared.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours of every row (k). Few neighbours follow a curved surface closely but
        may not connect all rows; many may connect rows across a gap. Must be at least 1 and less
        than the number of rows.
    n_components : int, default=2
        Number of dimensions of the embedding. Must be at least 1.
    tol : float, default=0
        Relative accuracy of the Lanczos iterations. 0 means nearly machine precision.
    max_iter : int or None, default=None
        Maximum number of Lanczos iterations. If it is reached, all eigenvalues are computed.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"} or \
            ApproximateSearch, default="auto"
        How neighbours are found, as ``algorithm`` of `NearestNeighbors`. All but "approximate" find
        the same neighbours.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        The points of the training rows.
    nbrs_ : NearestNeighbors
        The fitted search for neighbours among the training rows.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _: KW_ONLY
    n_neighbors: int = 5
    n_components: int = 2
    tol: float = 0
    max_iter: int | None = None
    neighbors_algorithm: Any = "auto"
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_neighbors": whole(1),
        "n_components": whole(1),
        "tol": at_least(0),
        "max_iter": none | whole(1),
        "neighbors_algorithm": one_of("auto", "brute", "kd_tree", "ball_tree", "approximate")
        | Range(lambda value: isinstance(value, ApproximateSearch), "an ApproximateSearch"),
    }
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _for_few_rows = True

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Any:
        """Compute the points of the training rows.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted embedding.
        """

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the embedding, and return the points of the rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n, n_components)
            The points, ``embedding_``.
        """
        points: Array = self.fit(X).embedding_
        return points

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _require_rows(self, n: int, n_neighbors: int | None) -> None:
        """Refuse more neighbours than other rows, and more components than rows."""
        who = type(self).__name__
        if n_neighbors is not None and n_neighbors >= n:
            raise DataError(
                f"{who}: Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = "
                f"{n_neighbors}. Use fewer neighbours or more rows."
            )
        if self.n_components >= n:
            raise ParameterError(
                f"{who}: n_components={self.n_components} must be less than the number of rows, "
                f"but n_samples = {n}. Use fewer components or more rows."
            )


def by_whole(eigen_solver: str) -> bool | None:
    """Whether all eigenvalues are to be computed; None if the sizes decide."""
    return {"dense": True, "arpack": False}.get(eigen_solver)
