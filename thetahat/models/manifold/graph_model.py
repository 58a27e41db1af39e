"""Shared by models of the eigenvectors of a graph of rows: its parameters, and its edge weights."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, more_than, none, one_of, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Matrix
from thetahat.models.kernel.parameters import in_memory
from thetahat.models.manifold.affinities import neighbour_affinity, require_affinity

NEIGHBOURS = ("nearest_neighbors", "nearest_neighbors_rbf", "precomputed_nearest_neighbors")
GIVEN = ("precomputed", "precomputed_nearest_neighbors")


@with_parameters
class GraphModel(Estimator):
    """A model of a graph whose edges join similar rows.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Has no effect on the eigenvectors, because the start of the iterations is fixed.
    eigen_solver : {"arpack", "lobpcg", "amg"} or None, default=None
        Has no effect: Lanczos iterations with one factor of the matrix are used for many rows, and
        all eigenvalues for few. Accepted for compatibility with scikit-learn.
    eigen_tol : float or "auto", default="auto"
        Relative accuracy of the eigenvalues. "auto" and 0 mean nearly machine precision; larger
        values are faster. Must be at least 0.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        The eigenvectors of the graph, which are the new coordinates of the training rows.
    eigenvalues_ : array of shape (n_components,)
        The eigenvalues of the columns of ``embedding_`` in ascending order (λ).
    affinity_matrix_ : array or sparse array of shape (n, n)
        The edge weights between the training rows (W).
    n_connected_ : int
        Number of connected components of the graph. No edge joins rows of two of them.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _: KW_ONLY
    random_state: Any = None
    eigen_solver: str | None = None
    eigen_tol: Any = "auto"
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "eigen_solver": one_of("arpack", "lobpcg", "amg") | none,
        "eigen_tol": at_least(0) | one_of("auto"),
        "n_jobs": none | Range(lambda value: isinstance(value, int | np.integer), "a whole number"),
        "n_neighbors": whole(1) | none,
        "gamma": more_than(0) | none,
    }
    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _for_few_rows = True

    affinity: Any
    gamma: float | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._affinity_name in GIVEN
        return tags

    @property
    def _affinity_name(self) -> str:
        """The name of the affinity; empty if it has none."""
        return self.affinity if isinstance(self.affinity, str) else ""

    @abstractmethod
    def _require_rows(self, n: int) -> None:
        """Raise an error if there are too few rows for the number of components."""

    @abstractmethod
    def _count_neighbours(self, n: int) -> int:
        """Number of nearest rows that are joined with a row."""

    @abstractmethod
    def _similarities(self, X: Matrix) -> Matrix:
        """The weights of all pairs of rows, for an affinity that is not a graph of neighbours."""

    def _edges(self, X: Any) -> tuple[InMemory, Matrix]:
        """Read the rows, and find their edge weights; sets ``affinity_matrix_``."""
        who, name = type(self).__name__, self._affinity_name
        source = in_memory(self._open(X, supervised=False), who)
        n, rows = source.n_rows, source.X
        if n < 2:
            raise DataError(
                f"{who}: Found array with n_samples = {n} (1 sample), but a minimum of 2 is "
                "required, because edges join two rows. Pass more rows."
            )
        self._require_rows(n)
        if name in GIVEN and n != source.n_features:
            raise DataError(
                f"{who}: affinity={name!r} needs a square matrix, with one row and one column per "
                f"row of the data, but the shape of X is {rows.shape}. Pass a square matrix, or "
                "use another affinity."
            )
        if name in NEIGHBOURS:
            gamma = None
            if name == "nearest_neighbors_rbf":
                gamma = 1.0 / source.n_features if self.gamma is None else self.gamma
            k = self._count_neighbours(n)
            self.affinity_matrix_ = W = neighbour_affinity(rows, k, gamma, name in GIVEN, who)
        else:
            found = rows if name == "precomputed" else self._similarities(rows)
            W = require_affinity(found, n, who)
            self.affinity_matrix_ = W.astype(source.dtype, copy=False)
        return source, W

    @property
    def _tolerance(self) -> float:
        return 0.0 if isinstance(self.eigen_tol, str) else float(self.eigen_tol)

    def _cast(self, points: Any, source: InMemory) -> Any:
        return np.ascontiguousarray(points.astype(source.dtype, copy=False))
