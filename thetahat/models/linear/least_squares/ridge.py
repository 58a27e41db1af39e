"""Ridge regression: β̂ = argmin Σ wᵢ (yᵢ − xᵢᵀβ − b)² + α‖β‖², the intercept b never penalised."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.source import Source
from thetahat.data.summaries.moments import moments
from thetahat.data.views.one_target import OneTarget
from thetahat.data.views.rescaled import Rescaled
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import (
    at_least,
    boolean,
    more_than,
    non_negative_array,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import DataError
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.norm_bound import ridge_with_norm
from thetahat.objective.least_squares.solve import SOLVERS, LeastSquares, least_squares

SERVED_BY = {
    "augmented": "qr",
    "sparse_cg": "lsqr",
    "sag": "lsqr",
    "saga": "lsqr",
    "lbfgs": "lsqr",
}
"""Names of scikit-learn's (and the lecture's) solvers, and what reaches the same optimum here."""


def served_by(solver: str, positive: bool) -> str:
    """The solver that a name stands for; scikit-learn's "lbfgs" is the one that takes β ≥ 0."""
    return "auto" if positive and solver == "lbfgs" else SERVED_BY.get(solver, solver)


class Ridge(Watched, LinearRegressor):
    """Least squares with an L2 penalty, in every form of the course.

    Formula: β̂ = (XᵀX + αI)⁻¹Xᵀy on centred data, or equally: ordinary least squares on the
    augmented rows [X; √α I], [y; 0]; the filter Σ vⱼ sⱼ/(sⱼ² + α) uⱼᵀy; the dual Xᵀ(XXᵀ + αI)⁻¹y;
    or the constrained form min ‖y − Xβ‖² with ‖β‖² ≤ t. It is the posterior mean under the prior
    β ~ N(0, σ²/α).

    Cost: O(n d²) time and O(d²) memory; O(n² d) for the dual.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty.
    fit_intercept, copy_X, max_iter, tol, positive, random_state
        As in `LinearRegression`.
    solver : str, default="auto"
        Those of `LinearRegression`, "augmented" (QR of the augmented rows), and scikit-learn's
        "sparse_cg", "sag", "saga" and "lbfgs", which LSQR serves (active sets, where β ≥ 0): the
        optimum is the same.
    standardize : bool, default=False
        Penalise the coefficients of standardised columns, and transform back.
    norm_bound : float, optional
        t of the constrained form ‖β‖² ≤ t. It replaces `alpha`; ``alpha_`` is the multiplier.

    Attributes
    ----------
    coef_, intercept_, solution_, n_iter_
        As in `LinearRegression`.
    alpha_ : float or array
        The penalty that was applied.
    solver_ : str
        The solver that ran.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]]), np.array([2.0, 0.0, -1.0])
    >>> np.round(th.Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_, 4).tolist()
    [0.75, 0.6667]
    """

    _ranges = {  # noqa: RUF012
        "alpha": at_least(0) | non_negative_array,
        "fit_intercept": boolean,
        "max_iter": whole(1) | none,
        "tol": at_least(0),
        "solver": one_of("auto", *SOLVERS, *SERVED_BY),
        "positive": boolean,
        "standardize": boolean,
        "norm_bound": more_than(0) | none,
    }

    _accepts_devices = True
    _flattens_one_column = True

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        standardize: bool = False,
        norm_bound: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.standardize = standardize
        self.norm_bound = norm_bound

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Ridge:
        """Fit to rows in memory (X, y) or to a source that brings its own targets.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,) or (n, n_targets), optional
            Targets; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        view = _standardized(source) if self.standardize else source
        with self._watching(self.max_iter, partial(self._shaped, source=source), X, y) as watch:
            found, self.alpha_ = self._solve(view, watch)
        theta = found.solution.theta
        if isinstance(view, Rescaled):
            theta = np.vstack(view.back(theta[:-1], theta[-1]))
        self.solution_ = replace(found.solution, theta=theta)
        self._keep(theta, source)
        self.solver_, self.n_iter_ = self.solution_.solver, max(1, self.solution_.steps)
        self._warn_unless_converged()
        return self

    def _solve(self, source: Source, watch: Watch) -> tuple[LeastSquares, Any]:
        """The fit and the penalty that was applied: one for all targets, or one each."""
        options = dict(
            solver=served_by(self.solver, self.positive),
            intercept=self.fit_intercept,
            positive=self.positive,
            tolerance=self.tol,
            max_steps=self.max_iter,
            random_state=self.random_state,
            watch=watch,
        )
        alpha = self.alpha
        if self.norm_bound is not None:
            about = moments(source)
            about = about if self.fit_intercept else about.about_zero()
            alpha = ridge_with_norm(about, self.norm_bound, positive=self.positive)
        return solve_ridge(source, alpha, who=type(self).__name__, **options)


def solve_ridge(
    source: Source, alpha: Any, *, who: str, **options: Any
) -> tuple[LeastSquares, Any]:
    """The fit under one penalty, or one for each target, and the penalty as a number or array."""
    alpha = np.asarray(alpha, dtype=float)
    if alpha.ndim == 0 or alpha.size == 1:
        one = float(alpha.ravel()[0])
        return least_squares(source, ridge=one, **options), one
    targets = max(1, source.n_outputs)
    if alpha.shape != (targets,):
        raise DataError(
            f"{who}: Number of targets and number of penalties do not correspond: {targets} "
            f"targets, alpha of shape {alpha.shape}. Give one number, or one per target."
        )
    fits = [
        least_squares(OneTarget.of(source, j), ridge=float(a), **options)
        for j, a in enumerate(alpha)
    ]
    theta = np.hstack([found.solution.theta for found in fits])
    return replace(fits[0], solution=replace(fits[0].solution, theta=theta)), alpha


def _standardized(source: Source) -> Rescaled:
    """The rows with columns of unit variance; constant columns keep their size."""
    spread = np.sqrt(np.diagonal(moments(source).covariance()))[: source.n_features]
    scale = np.where(spread > 0, spread, 1.0)
    outputs = max(1, source.n_outputs)
    return Rescaled.of(source, np.zeros_like(scale), scale, np.zeros(outputs), np.ones(outputs))
