"""The lasso and the elastic net for several targets that share their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.parameters import at_least, boolean
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.linear.sparse.elastic_net import share
from thetahat.models.linear.sparse.l1_regressor import SOLVER_RANGES, SparseCoefficients
from thetahat.objective.lasso.task_path import solve_tasks, task_problem

_SHARED = ("fit_intercept", "copy_X", "max_iter", "tol", "selection")
_RANGES = {name: SOLVER_RANGES[name] for name in _SHARED} | {
    "alpha": at_least(0),
    "warm_start": boolean,
}


class TaskRegressor(Watched, SparseCoefficients):
    """Least squares under α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²)."""

    _streams = False

    alpha: float
    fit_intercept: bool
    max_iter: int
    tol: float
    warm_start: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, l1_ratio: float) -> None:
        source = self._open(X, y, sample_weight, check_finite=False)
        assert isinstance(source, InMemory)
        if not source.n_outputs:
            single = type(self).__name__.removeprefix("MultiTask")
            raise DataError(
                f"{type(self).__name__} learns several targets, and y has one dimension. For "
                f"mono-task outputs, use {single}."
            )
        problem = task_problem(source, intercept=self.fit_intercept)
        shape = (source.n_outputs, source.n_features)
        start = None
        if self.warm_start and getattr(self, "coef_", np.empty(0)).shape == shape:
            start = problem.pack(np.asarray(self.coef_, dtype=np.float64).T)
        with self._watching(
            self.max_iter, lambda theta: self._task_attributes(theta, source), X, y
        ) as watch:
            self.solution_ = solve_tasks(
                problem,
                self.alpha,
                l1_ratio,
                start=start,
                tol=self.tol,
                max_iter=self.max_iter,
                watch=watch,
            )
        self.__dict__.update(self._task_attributes(self.solution_.theta, source))
        self.n_iter_ = max(1, self.solution_.steps)
        self.dual_gap_, self.eps_ = self.solution_.gap, self.tol
        self._warn_unless_converged()

    def _task_attributes(self, theta: Array, source: Source) -> dict[str, Array]:
        size = source.n_features * source.n_outputs
        intercept = theta[size:] if self.fit_intercept else np.zeros(source.n_outputs)
        coef = theta[:size].reshape(source.n_features, source.n_outputs).T
        return {
            "coef_": np.ascontiguousarray(coef, dtype=source.dtype),
            "intercept_": np.asarray(intercept, dtype=source.dtype),
        }


class MultiTaskElasticNet(TaskRegressor):
    """The elastic net for several targets: a column is in use for all of them, or for none.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²),
    where B_j is the row of column j.

    Cost: O(n d k) per pass over the columns for k targets, of which there are a few, and O(s²k) per
    sweep over s columns in use.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, on the mean squared error; 0 is taken as the limit from above.
    l1_ratio : float, default=0.5
        Share of the norms ‖B_j‖₂, between 0 and 1.
    fit_intercept, copy_X, max_iter, tol, warm_start, random_state, selection
        As in `Lasso`.

    Attributes
    ----------
    coef_ : array of shape (n_targets, d)
        B̂ᵀ.
    intercept_ : array of shape (n_targets,)
        b̂.
    sparse_coef_, dual_gap_, n_iter_, solution_
        As in `Lasso`.
    eps_ : float
        The tolerance of the gap, as a share of ‖Y‖²/n.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    >>> th.MultiTaskElasticNet(alpha=0.1, tol=1e-10).fit(X, Y).coef_.round(4).tolist()
    [[0.4564, 0.4564], [0.4564, 0.4564]]
    """

    _ranges = _RANGES | {"l1_ratio": share}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MultiTaskElasticNet:
        """Fit; y is (n, n_targets), other parameters as in `Lasso.fit`."""
        self._fit(X, y, sample_weight, l1_ratio=self.l1_ratio)
        return self


class MultiTaskLasso(TaskRegressor):
    """The lasso for several targets: a column is in use for all of them, or for none.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α Σ_j ‖B_j‖₂, where B_j is the row of column j.

    Cost: that of `MultiTaskElasticNet`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, on the mean squared error; 0 is taken as the limit from above.
    fit_intercept, copy_X, max_iter, tol, warm_start, random_state, selection
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, eps_, solution_
        As in `MultiTaskElasticNet`.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]]
    >>> th.MultiTaskLasso(alpha=0.1).fit(X, Y).coef_.shape
    (2, 2)
    """

    _ranges = _RANGES

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MultiTaskLasso:
        """Fit; y is (n, n_targets), other parameters as in `Lasso.fit`."""
        self._fit(X, y, sample_weight, l1_ratio=1.0)
        return self
