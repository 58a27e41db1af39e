"""Ridge regression: β̂ = argmin Σ wᵢ (yᵢ − xᵢᵀβ − b)² + α‖β‖², the intercept b never penalised."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.moments import moments
from thetahat.data.views import one_target
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, at_least, boolean, none
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import DataError
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.norm_bound import ridge_with_norm
from thetahat.models.linear.inference.ridge_intervals import RidgeEvidence, RidgeIntervals
from thetahat.models.linear.least_squares.solver_parameters import RidgeParameters
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.least_squares.direct import LeastSquares
from thetahat.objective.least_squares.solve import least_squares
from thetahat.objective.predictor import LinearPredictor


@with_parameters
class Ridge(RidgeIntervals, RidgeParameters, WatchedSolver, LinearRegressor):
    """Linear least squares with an L2 penalty on the coefficients.

    Formula: β̂, b̂ = argmin Σ wᵢ(yᵢ − xᵢᵀβ − b)² + α‖β‖². On centred data β̂ = (XᵀX + αI)⁻¹Xᵀy.
    Equivalent forms are ordinary least squares on the augmented rows [X; √α I], [y; 0]; the
    filtered sum Σ vⱼ sⱼ/(sⱼ² + α) uⱼᵀy over singular vectors; the dual Xᵀ(XXᵀ + αI)⁻¹y; and the
    constrained problem min ‖y − Xβ‖² with ‖β‖² ≤ t. β̂ is also the posterior mean under the prior
    β ~ N(0, σ²/α).

    Cost: O(n d²) time and O(d²) memory; O(n² d) time for the dual.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero and
        make the fit less sensitive to noise and to correlated columns. Must be ≥ 0; 0 gives
        ordinary least squares. An array gives each target its own penalty.
    solver : str or Method, default="auto"
        Solver to use: any solver of `LinearRegression`, or "augmented", which computes a QR
        factorisation of the augmented rows. "augmented_" before the name of a solver, as in
        "augmented_svd" or "augmented_lsqr", runs that solver on the augmented rows. "auto" chooses
        by the size and the condition number of X; ``solution_.reason`` says why. scikit-learn's
        "sparse_cg", "sag", "saga" and "lbfgs" are accepted and run LSQR (with ``positive=True``, an
        active-set solver), which finds the same optimum.
    standardize : bool, default=False
        Whether to scale the columns to unit variance before the penalty is applied. The
        coefficients are transformed back to the original scale. Use it if the columns have
        different units.
    norm_bound : float or None, default=None
        Upper bound (t) on the squared norm of the coefficients, ‖β‖² ≤ t. If given, it replaces
        `alpha`, and ``alpha_`` holds the penalty that is equivalent to the bound. Must be positive.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        Strength of the penalty that was applied.
    solution_ : Solution
        Report of the solver. After the solver "dual", ``solution_.multipliers`` holds the dual
        variables a = (XXᵀ + αI)⁻¹y of the rows, with β = Xᵀa on centred rows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]]), np.array([2.0, 0.0, -1.0])
    >>> np.round(th.Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_, 4).tolist()
    [0.75, 0.6667]
    """

    _: KW_ONLY
    standardize: bool = False
    norm_bound: float | None = None

    _ranges = RidgeParameters._ranges | {
        "standardize": boolean,
        "norm_bound": at_least(1 / LARGEST_FACTOR) | none,
    }
    _accepts_devices = True
    _device_arrays = ("coef_", "intercept_")
    _flattens_one_column = True

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Ridge:
        """Fit the ridge regression."""
        source = self._open(X, y, sample_weight, check_finite=False)
        rows = self._conditioned(source)
        with (
            self._watching(self.max_iter, partial(self._shaped, source=source), X, y) as watch,
            rows.watch(watch) as inner,
        ):
            found, self.alpha_ = self._solve(rows.source, inner)
        self.solution_ = rows.solution(found.solution)
        self._keep(self.solution_.theta, source)
        self._evidence = RidgeEvidence.of(found, self.alpha_, rows.scale)
        self.solver_, self.n_iter_ = self.solution_.solver, max(1, self.solution_.steps)
        self._warn_unless_converged()
        return self

    def _conditioned(self, source: Source) -> Conditioning:
        """Columns scaled to unit variance if requested; constant columns are not scaled."""
        predictor = LinearPredictor(source.n_features, source.n_outputs)
        if not self.standardize:
            return Conditioning(source, predictor)
        spread = np.sqrt(np.diagonal(moments(source).covariance()))[: source.n_features]
        scale = np.where(spread > 0, spread, 1.0)
        return Conditioning.standardised(source, predictor, scale=scale)

    def _solve(self, source: Source, watch: Watch | None) -> tuple[LeastSquares, Any]:
        """The fit and the penalty that was applied (one number, or one per target)."""
        alpha = self.alpha
        if self.norm_bound is not None:
            about = moments(source)
            about = about if self.fit_intercept else about.about_zero()
            alpha = ridge_with_norm(about, self.norm_bound, positive=self.positive)
        return solve_ridge(source, alpha, who=type(self).__name__, **self._solver_options(watch))


def solve_ridge(
    source: Source, alpha: Any, *, who: str, **options: Any
) -> tuple[LeastSquares, Any]:
    """The fit under one penalty or one per target, and the penalty as a number or array."""
    alpha = np.asarray(alpha, dtype=float)
    if alpha.ndim == 0 or alpha.size == 1:
        one = float(alpha.ravel()[0])
        return least_squares(source, ridge=one, **options), one
    targets = max(1, source.n_outputs)
    if alpha.shape != (targets,):
        raise DataError(
            f"{who}: Number of targets and number of penalties do not correspond: y has {targets} "
            f"{'target' if targets == 1 else 'targets'}, and alpha has shape {alpha.shape}. Give "
            "one number, or one per target."
        )
    fits = [
        least_squares(one_target(source, j), ridge=float(a), **options) for j, a in enumerate(alpha)
    ]
    theta = np.hstack([found.solution.theta for found in fits])
    duals = [found.solution.multipliers for found in fits if found.solution.multipliers is not None]
    multipliers = np.column_stack(duals) if len(duals) == len(fits) else None
    solution = replace(fits[0].solution, theta=theta, multipliers=multipliers)
    return replace(fits[0], solution=solution), alpha
