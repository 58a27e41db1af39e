"""Ordinary least squares: β̂, b̂ = argmin Σ wᵢ (yᵢ − xᵢᵀβ − b)²."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any

from thetahat.data.summaries.log_weights import log_weights
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import one_of
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.models.linear.inference.least_squares_evidence import Evidence
from thetahat.models.linear.inference.least_squares_inference import Certain
from thetahat.models.linear.least_squares.solver_parameters import (
    A_METHOD,
    SOLVER_RANGES,
    SolverParameters,
)
from thetahat.objective.least_squares.solve import SOLVERS, least_squares


@with_parameters
class LinearRegression(SolverParameters, Certain, WatchedSolver, LinearRegressor):
    """Ordinary least squares, with standard errors and intervals.

    Formula: β̂, b̂ = argmin Σ wᵢ(yᵢ − xᵢᵀβ − b)². If several β reach the minimum, the one with the
    smallest norm is returned. The fit is the maximum-likelihood estimate under normal noise:
    ℓ = −(n/2)log 2π − n log σ − Σ(yᵢ − ŷᵢ)²/2σ², and the residuals are orthogonal to the columns of
    X.

    `summary` reports standard errors, tests and confidence intervals, and `predict_interval` gives
    intervals for predictions.

    Cost: O(n d²) time, little more than the product XᵀX if X is well conditioned, and O(d²) memory
    in addition to the data. X may be an array, a memory map or ``th.scan(path, target=...)``.

    Parameters
    ----------
    solver : str or Method, default="auto"
        Solver to use. "auto" estimates the condition number of X and takes the fastest solver that
        is accurate enough; ``solution_.reason`` says which one and why. Direct solvers:

        - "cholesky" solves the normal equations; fast, for well-conditioned X.
        - "pseudo_inverse" uses the eigenvalues of XᵀX; allows dependent columns.
        - "qr" uses Householder reflections; accurate also for ill-conditioned X.
        - "svd" drops directions whose singular values are zero up to rounding.
        - "dual" solves an n × n system; fast if there are fewer rows than columns.

        Iterative solvers, for comparison:

        - "lsqr" and "conjugate_gradient" (on the normal equations) need only products with X.
        - "gradient_descent" follows the gradient of all rows.
        - "sgd" follows the gradient of one row at a time, "mini_batch" that of a tenth of the rows
          and at most 64. They return the mean of their late iterates; 100 epochs give two to three
          digits.
        - A method such as ``th.optimizers.StochasticGradient(batch_size=16, step=0.1)`` runs on
          centred columns of unit variance, with its own batches, step rule and averaging.

    Attributes
    ----------
    rank_ : int or None
        Effective rank of X, after centring if an intercept is fitted; None if "lsqr" or
        "conjugate_gradient" was used for more than 500 columns.
    singular_ : array of shape (d,)
        Singular values of X, after centring if an intercept is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = th.LinearRegression().fit(X, [1.0, 2.9, 5.1, 7.0])
    >>> round(float(model.coef_[0]), 3)
    2.02
    >>> low, high = model.predict_interval(X, level=0.95)
    >>> bool(np.all(low < high))
    True
    """

    _: KW_ONLY
    tol: float = 1e-6
    n_jobs: int | None = None

    _ranges = SOLVER_RANGES | {"solver": one_of("auto", *SOLVERS) | A_METHOD}
    _accepts_devices = True
    _device_arrays = ("coef_", "intercept_")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearRegression:
        """Fit the linear model."""
        source = self._open(X, y, sample_weight, check_finite=False)
        with self._watching(self.max_iter, partial(self._shaped, source=source), X, y) as watch:
            found = least_squares(source, **self._solver_options(watch))
        self._keep(found.solution.theta, source)
        self.solution_, self.rank_ = found.solution, found.fit.rank
        self.n_iter_ = max(1, found.solution.steps)
        self._evidence = Evidence.of(
            found, weighted=source.has_weight, log_weights=log_weights(source)
        )
        self._warn_unless_converged()
        return self
