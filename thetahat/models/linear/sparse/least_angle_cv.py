"""Shared by `LarsCV` and `LassoLarsCV`: the point of the path with the smallest held-out error."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.row_subset import target_arrays
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import (
    RoutesToFolds,
    require_weight_in_every_fold,
    splits_of,
)
from thetahat.estimator.parameters import none, whole
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.sparse.least_angle import PATH_RANGES, PathRegressor, ended_as_asked
from thetahat.objective.lasso.least_angle import LeastAnglePath, PathRules
from thetahat.objective.lasso.least_angle_folds import LeastAngleFolds


@with_parameters
class LeastAngleCV(RoutesToFolds, PathRegressor):
    """A path of least angles that ends where the held-out error is smallest.

    Parameters
    ----------
    max_iter : int, default=500
        Maximum number of steps of each path.
    precompute : bool, "auto" or array of shape (d, d), default="auto"
        Whether to form the Gram matrix XᵀX. "auto" forms it unless there are many more columns than
        rows. An array has the effect of True, because every fold has its own matrix.
    max_n_alphas : int, default=1000
        Largest number of points of the path at which the held-out error is computed. If the nodes
        of all folds are more, every second, third ... is used.
    n_jobs : int or None, default=None
        Has no effect; ``th.config(threads=...)`` sets the number of threads. Accepted for
        compatibility with scikit-learn.

    Attributes
    ----------
    alpha_ : float
        The point of the path with the smallest mean held-out error.
    cv_alphas_ : array of shape (n_cv_alphas,)
        The points that were compared: the nodes of the paths of all folds, in ascending order.
    mse_path_ : array of shape (n_cv_alphas, n_folds)
        Mean squared error on the held-out rows, for each point and fold.
    alphas_ : array of shape (n_nodes,)
        The nodes of the path of all rows, down to `alpha_`.
    coef_path_ : array of shape (d, n_nodes)
        Coefficients at each node of the path of all rows.
    active_ : list of int
        Columns in use at the end of the path, in the order in which they joined.
    n_iter_ : int
        Number of steps of the path of all rows.
    """

    _: KW_ONLY
    max_iter: int = 500
    cv: Any = None
    max_n_alphas: int = 1000
    n_jobs: int | None = None

    _ranges = PATH_RANGES | {
        "max_iter": whole(0),
        "max_n_alphas": whole(1),
        "n_jobs": whole(-64) | none,
    }
    _multi_output = False
    _splits_rows = True

    def _rules(self, alpha_min: float = 0.0) -> PathRules:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the point of the path by cross-validation, and fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` is read once for every fold and for the final fit; its
            targets and weights are held in memory.
        y : array-like of shape (n,)
            Target values, one per row. Leave it out if X is a `Source`.
        """
        for_folds = self._for_folds(params)
        source = self._open(X, y, sample_weight)
        who = type(self).__name__
        targets, weight = target_arrays(source)
        rows = source.X if isinstance(source, InMemory) else np.empty((source.n_rows, 0))
        folds = [
            (np.asarray(train), np.asarray(test))
            for train, test in splits_of(self.cv, rows, targets, who=who, **for_folds)
        ]
        require_weight_in_every_fold(weight, folds, who)
        held_out = LeastAngleFolds(
            source, folds, self.fit_intercept, self.precompute, self._rules()
        )
        paths = held_out.paths()
        alphas = np.unique(np.concatenate([path.alphas for path in paths]))
        alphas = alphas[:: max(1, len(alphas) // self.max_n_alphas)]
        self.cv_alphas_ = alphas
        self.mse_path_ = np.column_stack([path.errors(alphas) for path in paths])
        self.alpha_ = float(alphas[int(np.argmin(self.mse_path_.mean(axis=1)))])
        problem = self._problem(source)
        self._keep_paths([problem.path(self._rules(self.alpha_))], problem, source)
        return self

    def _solution(self, path: LeastAnglePath) -> Solution:
        """A path that ends after the requested steps is one of those that were compared."""
        return ended_as_asked(super()._solution(path))
