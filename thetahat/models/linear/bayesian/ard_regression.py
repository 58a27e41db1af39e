"""Automatic relevance determination: βⱼ ~ N(0, 1/λⱼ), so that irrelevant columns get β = 0."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.moments import moments
from thetahat.estimator.base import DIRECT_SIZE
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    boolean,
    whole,
)
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.memory import require_memory
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.posterior import LinearPosterior
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.linear.bayesian.credible_intervals import Credible
from thetahat.models.linear.bayesian.last_step import with_last_step
from thetahat.objective.least_squares.relevance_evidence import (
    Posterior,
    RelevanceEvidence,
    RelevanceFixedPoint,
)
from thetahat.objective.least_squares.residual_squares import residual_squares
from thetahat.objective.least_squares.ridge_evidence import Hyperprior


@with_parameters
class ARDRegression(Credible, WatchedSolver, OneTargetRegressor):
    """Bayesian linear regression that finds the relevant columns (ARD).

    Formula: βⱼ ~ N(0, 1/λⱼ), y | x ~ N(xᵀβ + b, 1/α) and a flat prior for b. The noise precision α
    and the precision λⱼ of every coefficient maximise the evidence p(y | α, λ), with Gamma priors
    for all of them. For a column that does not help, λⱼ grows without bound; above
    `threshold_lambda` its coefficient is 0. The posterior of the others is N(m, Σ) with
    Σ = (diag(λ) + αXᵀX)⁻¹ and m = αΣXᵀy on centred data.

    `summary` reports posterior standard deviations and credible intervals, and `predict_interval`
    gives intervals for predictions.

    Cost: one Gram matrix, O(n d²), then O(k³) per iteration for the k columns that are left. Memory
    O(d²). The rows may be in memory, sparse or in a file.

    Parameters
    ----------
    tol : float, default=1e-3
        Tolerance of the solver. It stops when the sum of the absolute changes of the coefficients
        in one iteration is at most `tol`.
    alpha_1, alpha_2 : float, default=1e-6
        Shape and rate of the Gamma prior of the noise precision (α). The defaults are almost flat.
    lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the Gamma priors of the weight precisions (λ). The defaults are almost
        flat.
    compute_score : bool, default=False
        Whether to store the log evidence of every iteration in ``scores_``.
    threshold_lambda : float, default=1e4
        Precision above which a coefficient is set to 0. It has the units of 1/β², so that columns
        should be scaled to similar ranges first.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.

    Attributes
    ----------
    alpha_ : float
        Estimated precision of the noise (α).
    lambda_ : array of shape (d,)
        Estimated precisions of the coefficients (λ).
    sigma_ : array of shape (k, k)
        Posterior covariance matrix of the coefficients whose precision is below the threshold (Σ).
    scores_ : array of shape (n_iterations,) or list
        Log evidence of each iteration, if ``compute_score=True``, up to a constant.
    log_evidence_ : float
        Log evidence of the final fit, up to the same constant.
    X_offset_ : array of shape (d,)
        Means that were subtracted from the columns for centring.
    X_scale_ : array of shape (d,)
        Ones, because the columns are not scaled. Kept for compatibility with scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> y = 3.0 * X[:, 1] + 0.1 * np.random.default_rng(1).standard_normal(100)
    >>> th.ARDRegression().fit(X, y).coef_.round(1).tolist()
    [0.0, 3.0, 0.0, 0.0, 0.0]
    """

    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1.0e-3
    alpha_1: float = 1.0e-6
    alpha_2: float = 1.0e-6
    lambda_1: float = 1.0e-6
    lambda_2: float = 1.0e-6
    compute_score: bool = False
    threshold_lambda: float = 1.0e4
    fit_intercept: bool = True
    copy_X: bool = True
    verbose: bool = False

    _ranges: ClassVar[dict[str, Range]] = {
        "max_iter": whole(1),
        "tol": at_least(0),
        "alpha_1": at_least(0, LARGEST_FACTOR),
        "alpha_2": at_least(0, LARGEST_FACTOR),
        "lambda_1": at_least(0, LARGEST_FACTOR),
        "lambda_2": at_least(0, LARGEST_FACTOR),
        "compute_score": boolean,
        "threshold_lambda": at_least(0, LARGEST_FACTOR),
        "fit_intercept": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ARDRegression:
        source = self._open(X, y, sample_weight, check_finite=False)
        d = source.n_features
        require_memory(
            5 * 8 * d * d,
            f"The posterior covariance of {d} coefficients",
            "Use Lasso, which needs no covariance.",
        )
        about = moments(source)
        variance = float(about.in_data_units()[d, d]) / about.weight
        about = about if self.fit_intercept else about.about_zero()
        scatter, x_mean, y_mean = about.in_data_units(), about.x_mean, about.y_mean
        evidence = RelevanceEvidence(
            scatter[:d, :d],
            scatter[:d, d],
            float(scatter[d, d]),
            about.weight,
            float(self.threshold_lambda),
            Hyperprior(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2),
            lambda coef: float(residual_squares(source, coef[:, None], x_mean, y_mean)[0]),
        )

        def attributes(theta: Array, coef: Array | None = None) -> dict[str, Any]:
            coef = evidence.posterior(theta).mean if coef is None else coef
            stacked = np.append(coef, y_mean[0] - x_mean @ coef)[:, None]
            return {**self._shaped(stacked, source), "alpha_": theta[0], "lambda_": theta[1:]}

        start = np.ones(d + 1)
        start[0] = 1.0 / (variance + EPSILON)
        with self._watching(self.max_iter, attributes, X, y) as watch, one_blas_thread():
            self.solution_ = minimise(
                evidence,
                RelevanceFixedPoint(),
                start,
                tolerance=self.tol,
                max_steps=self.max_iter - 1,
                watch=watch,
                reason="maximise the evidence: one Gram matrix, then O(k³) per step",
                keep_trace=self.compute_score,
            )
            before = evidence.posterior(self.solution_.theta)
            theta = evidence.improved(self.solution_.theta, before, evidence.misfit(before))
            found = evidence.posterior(theta)
            value = evidence.objective(theta, found, evidence.misfit(found))
        self.solution_ = with_last_step(
            self.solution_, theta, value, (before.mean, found.mean), self.tol
        )
        self.__dict__.update(attributes(theta, found.mean))
        self.n_iter_, self.log_evidence_ = self.solution_.steps, -value
        trace = [-each for each in self.solution_.trace]
        self.scores_: Any = np.array(trace) if self.compute_score else []
        self.X_offset_, self.X_scale_ = x_mean, np.ones(d)
        self.sigma_ = found.covariance
        self._posterior = self._joint(found, x_mean, float(y_mean[0]), about.weight)
        shrunk = theta[1:][found.left] * np.diagonal(found.covariance)
        self._count_noise(
            about.weight,
            float((1.0 - shrunk).sum()),
            intercept=self.fit_intercept,
            prior=2 * self.alpha_1,
            unbiased=False,
        )
        self._warn_unless_converged()
        return self

    def _joint(
        self, found: Posterior, x_mean: Array, y_mean: float, weight: float
    ) -> LinearPosterior:
        """The posterior of all coefficients and the intercept."""
        d = len(found.mean)
        size = d + int(self.fit_intercept)
        covariance = np.zeros((size, size))
        covariance[np.ix_(found.left, found.left)] = found.covariance
        if not self.fit_intercept:
            return LinearPosterior(found.mean, covariance, np.zeros(d), False)
        covariance[d, d] = 1.0 / (self.alpha_ * weight)
        return LinearPosterior(np.append(found.mean, y_mean), covariance, x_mean, True)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the mean of y, and optionally its standard deviation.

        Cost: O(n d) for the mean, O(n k²) with the standard deviation.

        Formula: xᵀm + b, and √(1/α + (x − x̄)ᵀΣ(x − x̄)). As in scikit-learn, the intercept is
        treated as known; `predict_interval` includes its variance too.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of a new y as well.

        Returns
        -------
        mean : array of shape (n,)
            Predicted mean of y.
        std : array of shape (n,)
            Standard deviation of a new y. Only returned if ``return_std=True``.
        """
        mean = self._raw(X)
        if not return_std:
            return mean
        # Small arrays that `_raw` has accepted are not validated again.
        if type(X) is np.ndarray and X.size <= DIRECT_SIZE:
            return mean, self._deviation(X)
        rows = self._open_again(X)
        return mean, rows.map_rows(lambda block: self._deviation(dense_rows(block)))

    def _deviation(self, rows: Array) -> Array:
        left = np.flatnonzero(self.lambda_ < self.threshold_lambda)
        centred = (rows - self.X_offset_)[:, left]
        spread = np.einsum("ij,ij->i", centred @ self.sigma_, centred)
        return np.sqrt(1.0 / self.alpha_ + spread)

    def _noise_variance(self, n_rows: int, noise: Any) -> float:
        return 1.0 / float(self.alpha_)
