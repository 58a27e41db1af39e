"""The lasso and the elastic net for several targets that use the same columns."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import at_least, boolean, fraction
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.linear.sparse.l1_regressor import SOLVER_RANGES, SparseCoefficients
from thetahat.objective.lasso.task_path import solve_tasks, task_problem

_SHARED = ("fit_intercept", "copy_X", "max_iter", "tol", "selection")
_RANGES = {name: SOLVER_RANGES[name] for name in _SHARED} | {
    "alpha": at_least(0),
    "warm_start": boolean,
}


class TaskRegressor(Watched, SparseCoefficients):
    """Least squares with penalty α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²)."""

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
                f"{type(self).__name__} needs several targets, y of shape (n, n_targets), but y "
                f"has one dimension. For mono-task outputs, use {single}."
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


@with_parameters
class MultiTaskElasticNet(TaskRegressor):
    """Elastic net for several targets that uses the same columns for all of them.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²),
    where row B_j holds the coefficients of column j for all targets. The penalty sets whole rows to
    zero.

    Cost: O(n d k) for each of a few passes over all columns with k targets, and O(s²k) per
    iteration on a working set of s columns.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α), relative to the mean squared error. Larger values shrink the
        coefficients more and remove more columns from the model. Must be ≥ 0; 0 gives the limit of
        the solution for α → 0.
    l1_ratio : float, default=0.5
        Share of the norms ‖B_j‖₂ in the penalty, between 0 and 1. 1 is the multi-task lasso
        penalty, 0 the ridge penalty; values in between combine both.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    max_iter : int, default=1000
        Maximum number of iterations. One iteration updates every coefficient of the working set
        once. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.
    random_state : int, RandomState or None, default=None
        Has no effect, because the solver uses no random numbers. Accepted for compatibility with
        scikit-learn.
    selection : {"cyclic", "random"}, default="cyclic"
        Has no effect. Accepted for compatibility with scikit-learn; the coefficients are updated in
        cyclic order, which leads to the same optimum.

    Attributes
    ----------
    coef_ : array of shape (n_targets, d)
        Estimated coefficients (B̂ᵀ), one row per target.
    intercept_ : array of shape (n_targets,)
        Estimated intercepts (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse array of shape (n_targets, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap at the end of the fit: the objective is at most this much above its minimum.
    n_iter_ : int
        Number of iterations that the solver ran.
    eps_ : float
        Tolerance of the duality gap relative to ‖Y‖²/n; equal to `tol`.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    >>> th.MultiTaskElasticNet(alpha=0.1, tol=1e-10).fit(X, Y).coef_.round(4).tolist()
    [[0.4564, 0.4564], [0.4564, 0.4564]]
    """

    alpha: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 0.5
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    warm_start: bool = False
    random_state: Any = None
    selection: str = "cyclic"

    _ranges = _RANGES | {"l1_ratio": fraction}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MultiTaskElasticNet:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n, n_targets)
            Target values, one column per target.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, l1_ratio=self.l1_ratio)
        return self


@with_parameters
class MultiTaskLasso(TaskRegressor):
    """Lasso for several targets that uses the same columns for all of them.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α Σ_j ‖B_j‖₂, where row B_j holds the coefficients
    of column j for all targets. The penalty sets whole rows to zero.

    Cost: that of `MultiTaskElasticNet`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α), relative to the mean squared error. Larger values shrink the
        coefficients more and remove more columns from the model. Must be ≥ 0; 0 gives the limit of
        the solution for α → 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    max_iter : int, default=1000
        Maximum number of iterations. One iteration updates every coefficient of the working set
        once. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.
    random_state : int, RandomState or None, default=None
        Has no effect, because the solver uses no random numbers. Accepted for compatibility with
        scikit-learn.
    selection : {"cyclic", "random"}, default="cyclic"
        Has no effect. Accepted for compatibility with scikit-learn; the coefficients are updated in
        cyclic order, which leads to the same optimum.

    Attributes
    ----------
    coef_ : array of shape (n_targets, d)
        Estimated coefficients (B̂ᵀ), one row per target.
    intercept_ : array of shape (n_targets,)
        Estimated intercepts (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse array of shape (n_targets, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap at the end of the fit: the objective is at most this much above its minimum.
    n_iter_ : int
        Number of iterations that the solver ran.
    eps_ : float
        Tolerance of the duality gap relative to ‖Y‖²/n; equal to `tol`.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]]
    >>> th.MultiTaskLasso(alpha=0.1).fit(X, Y).coef_.shape
    (2, 2)
    """

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    warm_start: bool = False
    random_state: Any = None
    selection: str = "cyclic"

    _ranges = _RANGES

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MultiTaskLasso:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n, n_targets)
            Target values, one column per target.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, l1_ratio=1.0)
        return self
