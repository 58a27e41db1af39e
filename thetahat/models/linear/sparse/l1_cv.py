"""Shared by `LassoCV` and `ElasticNetCV`: choose the penalty with the smallest held-out error."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.data.row_subset import target_arrays
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import (
    RoutesToFolds,
    require_weight_in_every_fold,
    splits_of,
)
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, how_many_or_which, more_than, whole
from thetahat.estimator.watching import WARNED_OF
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.linear.sparse.l1_regressor import GRAM_RANGES, L1Solver
from thetahat.objective.lasso.l1_folds import FoldErrors
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import alpha_grid, alpha_max, given_alphas

CV_RANGES = GRAM_RANGES | {
    "eps": more_than(0, LARGEST_FACTOR),
    "alphas": how_many_or_which,
    "n_jobs": whole(-64) | Range(lambda value: value is None, "None"),
}


@with_parameters
class PathParameters:
    """The penalties that are tried.

    Parameters
    ----------
    eps : float, default=1e-3
        Ratio of the smallest to the largest penalty on the path. Smaller values make the path
        longer. Only used if `alphas` is an int.
    alphas : int or array-like, default=100
        Number of penalties along the path, or the values themselves. An int gives a geometric
        sequence from the smallest penalty at which all coefficients are zero down to `eps` times
        that value.
    """

    _: KW_ONLY
    eps: float = 1e-3
    alphas: Any = 100
    cv: Any = None


@with_parameters
class L1RegressorCV(RoutesToFolds, L1Solver, PathParameters):
    """Fits a path of penalties for every fold, and then all rows at the best penalty.

    Parameters
    ----------
    max_iter : int, default=1000
        Maximum number of iterations for each penalty. One iteration updates every coefficient of
        the working set once. Raise it if the fit warns that it did not converge.
    verbose : bool or int, default=False
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen by cross-validation.
    alphas_ : array of shape (n_alphas,)
        The penalties that were tried, largest first.
    mse_path_ : array of shape (n_alphas, n_folds)
        Mean squared error on the held-out rows, for each penalty and fold. NaN for folds that were
        not finished within ``th.config(max_time=...)``.
    coef_ : array of shape (d,)
        Estimated coefficients (β̂), one per column.
    intercept_ : float
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse matrix of shape (1, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap of the final fit: its objective is at most this much above its minimum.
    n_iter_ : int
        Number of iterations of the final fit.
    solution_ : Solution
        Report of the solver for the final fit: how it stopped, the number of iterations and the
        remaining optimality gap.
    """

    _: KW_ONLY
    precompute: Any = "auto"
    verbose: Any = False
    n_jobs: int | None = None

    _multi_output = False
    _splits_rows = True
    _ranges = CV_RANGES

    warm_start = False

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Choose the penalty by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` is read once for every fold and for the final fit; its
            targets and weights are held in memory.
        y : array-like of shape (n,)
            Target values, one per row. Leave it out if X is a `Source`.
        """

    def _fit_by_folds(
        self, X: Any, y: Any, sample_weight: Any, l1_ratios: Array, params: dict[str, Any]
    ) -> float:
        """Choose the penalty, fit all rows with it, and return the chosen l1_ratio."""
        for_folds = self._for_folds(params)
        watch = Watch()
        source = self._open(X, y, sample_weight, check_finite=False)
        if isinstance(source, InMemory):
            source.require_finite()
        targets, weight = target_arrays(source)
        rows_to_split = source.X if isinstance(source, InMemory) else np.empty((source.n_rows, 0))
        folds = [
            (np.asarray(train), np.asarray(test))
            for train, test in splits_of(
                self.cv, rows_to_split, targets, who=type(self).__name__, **for_folds
            )
        ]
        require_weight_in_every_fold(weight, folds, type(self).__name__)
        held_out = FoldErrors(
            source, folds, self.fit_intercept, self.positive, self.tol, self.max_iter, watch
        )
        rows = held_out.all_rows()
        if not isinstance(self.precompute, bool | np.bool_ | str):
            rows = L1Rows(source, intercept=self.fit_intercept, precompute=self.precompute)
        grids = self._grids(rows, l1_ratios)
        errors = held_out.errors(l1_ratios, grids)
        mean = _mean_of_known(errors)
        which, index = np.unravel_index(int(np.argmin(mean)), mean.shape)
        self.alpha_, l1_ratio = float(grids[which, index]), float(l1_ratios[which])
        self.alphas_ = grids[0] if len(grids) == 1 or not self._makes_grid else grids
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self._solve(source, rows, self.alpha_, l1_ratio, X, y)
        if np.isnan(errors).any() and self.solution_.outcome is not Outcome.OUT_OF_TIME:
            message = "out of time before all folds were done: alpha was chosen by the others"
            self.solution_ = replace(self.solution_, outcome=Outcome.OUT_OF_TIME, message=message)
            self._warn_unless_converged()
        elif (late := sum(held_out.unconverged)) and self.solution_.outcome not in WARNED_OF:
            warn(
                f"{type(self).__name__}: {late} of {errors.size} fits to folds did not reach tol "
                "within max_iter iterations, so that alpha_ may be chosen wrongly. Raise max_iter "
                "or tol, or scale the columns.",
                ConvergenceWarning,
            )
        return l1_ratio

    @property
    def _makes_grid(self) -> bool:
        return isinstance(self.alphas, Integral)

    def _grids(self, rows: L1Rows, l1_ratios: Array) -> Array:
        who = type(self).__name__
        if not self._makes_grid:
            return np.tile(given_alphas(self.alphas, who), (len(l1_ratios), 1))
        problem = rows.problem()
        return np.array(
            [
                alpha_grid(
                    alpha_max(problem.design.start, problem.total, ratio, self.positive),
                    self.eps,
                    int(self.alphas),
                )
                for ratio in l1_ratios
            ]
        )


def _mean_of_known(errors: Array) -> Array:
    """Mean over the finished folds; infinity if no fold is finished."""
    known = ~np.isnan(errors)
    count = known.sum(axis=1)
    total = np.where(known, errors, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)
