"""The lasso and the elastic net for several targets that use the same columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import fraction
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.sparse.l1_regressor import (
    DESCENT_RANGES,
    PENALTY_RANGES,
    DescentParameters,
    L1Share,
    PenaltyParameters,
    SparseCoefficients,
)
from thetahat.models.linear.sparse.lasso_path import enet_path
from thetahat.objective.conditioning import watch_through
from thetahat.objective.lasso.task_path import solve_tasks, task_problem
from thetahat.objective.least_squares.solve import least_squares


@with_parameters
class TaskRegressor(DescentParameters, SparseCoefficients, PenaltyParameters):
    """Least squares with penalty α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α), relative to the mean squared error. Larger values shrink the
        coefficients more and remove more columns from the model. Must be ≥ 0; 0 gives the limit of
        the solution for α → 0.

    Attributes
    ----------
    coef_ : array of shape (n_targets, d)
        Estimated coefficients (B̂ᵀ), one row per target.
    intercept_ : array of shape (n_targets,)
        Estimated intercepts (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse matrix of shape (n_targets, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap at the end of the fit: the objective is at most this much above its minimum.
    eps_ : float
        Tolerance of the duality gap relative to ‖Y‖²/n; equal to `tol`.
    """

    _ranges = DESCENT_RANGES | PENALTY_RANGES
    path = staticmethod(enet_path)
    _streams = False
    _instead_of_blocks = "use Ridge, which reads blocks and takes several targets"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n, n_targets)
            Target values, one column per target.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        assert isinstance(source, InMemory)
        if not source.n_outputs:
            single = type(self).__name__.removeprefix("MultiTask")
            raise DataError(
                f"{type(self).__name__} needs several targets, y of shape (n, n_targets), but y "
                f"has one dimension. For mono-task outputs, use {single}."
            )
        with one_blas_thread():  # once, instead of in each of many short passes
            self._fit(source, X, y)
        self._warn_unless_converged()
        return self

    def _fit(self, source: InMemory, X: Any, y: Any) -> None:
        with self._watching(
            self.max_iter, lambda theta: self._task_attributes(theta, source), X, y
        ) as watch:
            solve = self._without_norms if self.l1_ratio == 0 else self._descend
            self.solution_ = solve(source, watch)
        self.__dict__.update(self._task_attributes(self.solution_.theta, source))
        self.n_iter_ = max(1, self.solution_.steps)
        self.dual_gap_, self.eps_ = self.solution_.gap, self.tol

    def _descend(self, source: InMemory, watch: Watch) -> Solution:
        problem = task_problem(source, intercept=self.fit_intercept)
        shape = (source.n_outputs, source.n_features)
        start = None
        if self.warm_start and getattr(self, "coef_", np.empty(0)).shape == shape:
            start = problem.pack(np.asarray(self.coef_, dtype=np.float64).T)
        return solve_tasks(
            problem,
            self.alpha,
            self.l1_ratio,
            start=start,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=watch,
        )

    def _without_norms(self, source: InMemory, watch: Watch) -> Solution:
        """Solve directly, as ridge regression of all targets."""
        source.require_finite()

        def packed(theta: Array) -> Array:
            return theta.reshape(-1) if self.fit_intercept else theta[:-1].reshape(-1)

        with watch_through(watch, packed) as inner:
            found = least_squares(
                source,
                ridge=float(self.alpha) * means(source).weight,
                intercept=self.fit_intercept,
                watch=inner,
            ).solution
        return replace(found, theta=packed(found.theta), reason=f"no L1 penalty: {found.reason}")

    def _task_attributes(self, theta: Array, source: Source) -> dict[str, Array]:
        size = source.n_features * source.n_outputs
        intercept = theta[size:] if self.fit_intercept else np.zeros(source.n_outputs)
        coef = theta[:size].reshape(source.n_features, source.n_outputs).T
        return {
            "coef_": np.ascontiguousarray(coef, dtype=source.dtype),
            "intercept_": np.asarray(intercept, dtype=source.dtype),
        }


@with_parameters
class MultiTaskElasticNet(TaskRegressor, L1Share):
    """Elastic net for several targets that uses the same columns for all of them.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α·(l1_ratio·Σ_j ‖B_j‖₂ + (1 − l1_ratio)/2·‖B‖²),
    where row B_j holds the coefficients of column j for all targets. The penalty sets whole rows to
    zero. Without it (``l1_ratio=0``) the problem is ridge regression and is solved directly.

    Cost: O(n d k) for each of a few passes over all columns with k targets, and O(s²k) per
    iteration on a working set of s columns.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share of the norms ‖B_j‖₂ in the penalty, between 0 and 1. 1 is the multi-task lasso
        penalty, 0 the ridge penalty; values in between combine both.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    >>> th.MultiTaskElasticNet(alpha=0.1, tol=1e-10).fit(X, Y).coef_.round(4).tolist()
    [[0.4564, 0.4564], [0.4564, 0.4564]]
    """

    _ranges = TaskRegressor._ranges | {"l1_ratio": fraction}


@with_parameters
class MultiTaskLasso(TaskRegressor):
    """Lasso for several targets that uses the same columns for all of them.

    Formula: B̂, b̂ = argmin ‖Y − XB − b‖²/(2n) + α Σ_j ‖B_j‖₂, where row B_j holds the coefficients
    of column j for all targets. The penalty sets whole rows to zero.

    Cost: that of `MultiTaskElasticNet`.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]]
    >>> th.MultiTaskLasso(alpha=0.1).fit(X, Y).coef_.shape
    (2, 2)
    """

    l1_ratio = 1.0
