"""Ordinary least squares: β̂, b̂ = argmin Σ wᵢ (yᵢ − xᵢᵀβ − b)²."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.callback import with_callbacks

from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.models.linear.inference.least_squares_evidence import Evidence
from thetahat.models.linear.inference.least_squares_inference import Certain
from thetahat.objective.least_squares.solve import SOLVERS, least_squares


class LinearRegression(Certain, Watched, LinearRegressor):
    """Least squares with an automatic solver, standard errors and intervals.

    Formula: β̂ = argmin Σ wᵢ(yᵢ − xᵢᵀβ − b)²; the one of least norm if several. This is maximum
    likelihood under normal noise: ℓ = −(n/2)log 2π − n log σ − Σ(yᵢ − ŷᵢ)²/2σ², and the residual is
    orthogonal to the columns of X.

    Cost: O(n d²) time (little more than the product XᵀX when X is well-conditioned), O(d²) memory
    beside the data, whatever n: X may be an array, a memory map or ``th.scan(path, target=...)``.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether b is fitted; otherwise b = 0.
    copy_X : bool, default=True
        Kept for compatibility; X is never changed.
    tol : float, default=1e-6
        Tolerance of iterative solvers.
    n_jobs : int, optional
        Kept for compatibility; ``th.config(threads=...)`` governs all of thetahat.
    positive : bool, default=False
        Require β ≥ 0.
    solver : str, default="auto"
        "auto" looks at the condition number and takes the fastest solver that keeps the digits
        (``solution_.reason`` says which and why); "cholesky" (normal equations), "pseudo_inverse",
        "qr" (Householder), "svd" (rank-truncated), "dual" (n × n), "lsqr" (products alone),
        "gradient_descent", "sgd", "mini_batch".
    max_iter : int, optional
        Steps (passes over the rows) of iterative solvers.
    random_state : int, Generator or None
        Order of the rows in "sgd" and "mini_batch".

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_targets, d)
        β̂.
    intercept_ : float or array of shape (n_targets,)
        b̂.
    rank_ : int
        Effective rank of the centred X.
    singular_ : array of shape (d,)
        Singular values of the centred X.
    solution_ : Solution
        Solver, reason, outcome, condition number.
    n_iter_ : int
        Steps taken; 1 for a direct solver.

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

    _ranges = {  # noqa: RUF012
        "fit_intercept": boolean,
        "positive": boolean,
        "tol": at_least(0),
        "solver": one_of("auto", *SOLVERS),
        "max_iter": whole(1) | none,
    }

    _accepts_devices = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "auto",
        max_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearRegression:
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
        with self._watching(self.max_iter, partial(self._shaped, source=source), X, y) as watch:
            found = least_squares(
                source,
                solver=self.solver,
                intercept=self.fit_intercept,
                positive=self.positive,
                tolerance=self.tol,
                max_steps=self.max_iter,
                random_state=self.random_state,
                watch=watch,
            )
        self._keep(found.solution.theta, source)
        self.solution_, self.rank_ = found.solution, found.fit.rank
        self.n_iter_ = max(1, found.solution.steps)
        self._evidence = Evidence.of(found, weighted=source.has_weight)
        self._warn_unless_converged()
        return self
