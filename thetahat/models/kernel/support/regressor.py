"""Shared by SVR and NuSVR: one function, for one target."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.types import Array
from thetahat.models.kernel.support.machine import SupportVectors
from thetahat.objective.kernel.support_dual import DualSolution


class OneFunction(SupportVectors):
    """A support vector machine with a single function.

    Attributes
    ----------
    dual_coef_ : array or sparse matrix of shape (1, n_support)
        The coefficients of the support vectors (β).
    intercept_ : array of shape (1,)
        The intercept of the function (b).
    coef_ : array or sparse array of shape (1, d)
        The coefficients of the columns, for the linear kernel only.
    n_iter_ : int
        The number of iterations of the solver.
    """

    def _keep_function(
        self, rows: InMemory, used: Array, beta: Array, offset: float, found: DualSolution
    ) -> None:
        support = np.flatnonzero(beta)
        self.dual_coef_ = self._shared_format(beta[None, support], rows)
        self.intercept_ = np.array([offset])
        self._n_support = np.array([len(support)], dtype=np.int32)
        self._keep(rows, used[support], beta[support, None], self.intercept_)
        self.n_iter_ = found.steps
        theta = np.zeros(rows.n_rows)
        theta[used] = beta
        self.solution_ = self._solution(found, theta)
        self._finish()


class SupportVectorRegressor(ScoredRegressor, OneFunction):
    """Support vector regression."""

    _generative = False
    _parametric = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the function and its tube. Cost: between O(n²d) and O(n³).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        y : array-like of shape (n,)
            Target values of the training rows.
        sample_weight : array-like of shape (n,), optional
            Row weights, which multiply C. A row of weight 2 counts as two equal rows. None gives
            every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, y, sample_weight)
        require_squares_of_target(source, who=type(self).__name__)
        rows, used, weight = self._begin(source)
        self._fit_tube(rows, used, weight, np.asarray(rows.y)[used].astype(np.float64))
        return self

    def _keep_function(
        self, rows: InMemory, used: Array, beta: Array, offset: float, found: DualSolution
    ) -> None:
        super()._keep_function(rows, used, beta, offset, found)
        self._warn_if_lost(found, float(np.ptp(np.asarray(rows.y)[used])))

    @abstractmethod
    def _fit_tube(self, rows: InMemory, used: Array, weight: Array, targets: Array) -> None:
        """Minimise the dual of the rows in use, and store the function."""

    def predict(self, X: Any) -> Array:
        """Predict f(x) + b. Cost: O(n m d) for m support vectors.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`; for a precomputed kernel, the values
            of the kernel for new rows and training rows.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        return self._scores(X)[:, 0]
