"""Shared by learned metrics: d(x, y) = ‖A(x − y)‖, with the rows of A as components."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block
from thetahat.estimator.watching import Watched
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.scaled import Mahalanobis
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


class LearnedMetric(ClassNamePrefixFeaturesOutMixin, Watched, RowwiseTransformer):
    """A transformer x ↦ Ax whose Euclidean distances are the learned ones.

    Attributes
    ----------
    components_ : array of shape (k, d)
        The learned linear map (A), one component per row.
    metric_ : Mahalanobis
        The learned distance ‖A(x − y)‖, for example for ``KNeighborsClassifier(metric=...)``.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations and the remaining optimality
        gap.
    n_iter_ : int
        Number of iterations that the solver ran.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _streams = False

    components_: Array
    n_iter_: int

    @property
    def metric_(self) -> Mahalanobis:
        check_is_fitted(self)
        return Mahalanobis(components=self.components_)

    def get_mahalanobis_matrix(self) -> Array:
        """Compute the matrix M = AᵀA of the learned metric. Cost: O(k d²).

        Returns
        -------
        array of shape (d, d)
            Symmetric and positive semidefinite, with d(x, y)² = (x − y)ᵀM(x − y).
        """
        check_is_fitted(self)
        A = self.components_.astype(np.float64, copy=False)
        return np.einsum("ki,kj->ij", A, A)

    def _transform_block(self, block: Block) -> Array:
        return np.asarray(block.X @ self.components_.T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _keep(self, solution: Any, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self.solution_ = solution
        self.n_iter_ = solution.steps
