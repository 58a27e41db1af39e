"""Bayesian ridge: β ~ N(0, 1/λ), y ~ N(Xβ + b, 1/α); α and λ maximise the evidence."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import moments
from thetahat.estimator.base import DIRECT_SIZE
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, at_least, boolean, more_than, none, whole
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.memory import require_memory
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.posterior import LinearPosterior
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.linear.bayesian.credible_intervals import Credible
from thetahat.models.linear.bayesian.last_step import with_last_step
from thetahat.objective.least_squares.ridge_evidence import (
    EvidenceFixedPoint,
    Hyperprior,
    RidgeEvidence,
)
from thetahat.objective.least_squares.ridge_path import RidgePath

NO_PENALTIES = np.empty(0)


@with_parameters
class BayesianRidge(Credible, WatchedSolver, OneTargetRegressor):
    """Bayesian ridge regression, which estimates the penalty and the noise from the data.

    Formula: β ~ N(0, I/λ), y | x ~ N(xᵀβ + b, 1/α) and a flat prior for b. The noise precision α
    and the weight precision λ maximise the evidence p(y | α, λ), with Gamma priors for both. The
    posterior is β | y ~ N(m, Σ) with Σ = (λI + αXᵀX)⁻¹ and m = αΣXᵀy on centred data, which is
    ridge regression with penalty λ/α.

    `summary` reports posterior standard deviations and credible intervals, and `predict_interval`
    gives intervals for predictions.

    Cost: one Gram matrix, O(n d²), and its eigenvalues, O(d³); then O(d²) per iteration for any n.
    The rows may be in memory, sparse or in a file.

    Parameters
    ----------
    tol : float, default=1e-3
        Tolerance of the solver. It stops when the sum of the absolute changes of the coefficients
        in one iteration is at most `tol`.
    alpha_1, alpha_2 : float, default=1e-6
        Shape and rate of the Gamma prior of the noise precision (α). The defaults are almost flat.
    lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the Gamma prior of the weight precision (λ). The defaults are almost flat.
    alpha_init : float or None, default=None
        Initial value of the noise precision (α). None uses 1/Var(y).
    lambda_init : float or None, default=None
        Initial value of the weight precision (λ). None uses 1.
    compute_score : bool, default=False
        Whether to store the log evidence of every iteration in ``scores_``.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.

    Attributes
    ----------
    alpha_ : float
        Estimated precision of the noise (α).
    lambda_ : float
        Estimated precision of the coefficients (λ).
    sigma_ : array of shape (d, d)
        Posterior covariance matrix of the coefficients (Σ).
    scores_ : array of shape (n_iterations + 1,) or list
        Log evidence at the start, after each iteration and at the end, if ``compute_score=True``.
    log_evidence_ : float
        Log evidence of the final fit, including the Gamma priors as in ``scores_``.
    X_offset_ : array of shape (d,)
        Means that were subtracted from the columns for centring.
    X_scale_ : array of shape (d,)
        Ones, because the columns are not scaled. Kept for compatibility with scikit-learn.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations and the remaining gap.
        ``solution_.value`` is the negative log evidence.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 5, noise=0.5, random_state=0)
    >>> model = th.BayesianRidge().fit(data.X, data.y)
    >>> round(float(model.alpha_ ** -0.5), 1)
    0.5
    >>> mean, std = model.predict(data.X[:2], return_std=True)
    """

    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1.0e-3
    alpha_1: float = 1.0e-6
    alpha_2: float = 1.0e-6
    lambda_1: float = 1.0e-6
    lambda_2: float = 1.0e-6
    alpha_init: float | None = None
    lambda_init: float | None = None
    compute_score: bool = False
    fit_intercept: bool = True
    copy_X: bool = True
    verbose: bool = False

    _ranges = {  # noqa: RUF012
        "max_iter": whole(1),
        "tol": at_least(0),
        "alpha_1": at_least(0, LARGEST_FACTOR),
        "alpha_2": at_least(0, LARGEST_FACTOR),
        "lambda_1": at_least(0, LARGEST_FACTOR),
        "lambda_2": at_least(0, LARGEST_FACTOR),
        "alpha_init": more_than(0, LARGEST_FACTOR) | none,
        "lambda_init": more_than(0, LARGEST_FACTOR) | none,
        "compute_score": boolean,
        "fit_intercept": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BayesianRidge:
        source = self._open(X, y, sample_weight, check_finite=False)
        path, variance = self._spectrum(source)
        evidence = RidgeEvidence.of(
            path, source, Hyperprior(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)
        )

        def attributes(theta: Array) -> dict[str, Any]:
            coef = evidence.coefficients(theta)
            stacked = np.append(coef, path.y_mean[0] - path.x_mean @ coef)[:, None]
            return {**self._shaped(stacked, source), "alpha_": theta[0], "lambda_": theta[1]}

        with self._watching(self.max_iter, attributes, X, y) as watch:
            self.solution_ = minimise(
                evidence,
                EvidenceFixedPoint(),
                self._start(variance),
                tolerance=self.tol,
                max_steps=self.max_iter - 1,
                watch=watch,
                reason="maximise the evidence: one eigendecomposition, then O(d²) per step",
                keep_trace=self.compute_score,
            )
        before = self.solution_.theta
        theta = evidence.improved(before)
        coefficients = evidence.coefficients(before), evidence.coefficients(theta)
        self.solution_ = with_last_step(
            self.solution_, theta, evidence.value(theta), coefficients, self.tol
        )
        self.__dict__.update(attributes(theta))
        self.n_iter_, self.log_evidence_ = self.solution_.steps, -self.solution_.value
        trace = [-value for value in self.solution_.trace]
        self.scores_: Any = np.array([*trace, self.log_evidence_]) if self.compute_score else []
        self.X_offset_, self.X_scale_ = path.x_mean, np.ones(source.n_features)
        self.sigma_ = evidence.covariance(theta)
        self._posterior = self._joint(evidence.coefficients(theta), path)
        effective = float((evidence.values / (evidence.values + theta[1] / theta[0])).sum())
        self._count_noise(
            path.weight,
            effective,
            intercept=self.fit_intercept,
            prior=2 * self.alpha_1,
            unbiased=False,
        )
        self._warn_unless_converged()
        return self

    def _spectrum(self, source: Source) -> tuple[RidgePath, float]:
        """Eigenvectors of the normal equations (n × n if there are fewer rows), and Var(y)."""
        d = source.n_features
        require_memory(
            6 * 8 * d * d,
            f"The posterior covariance of {d} coefficients",
            "Use Ridge, which needs no covariance.",
        )
        if isinstance(source, InMemory) and source.n_rows < d:
            source.require_finite()
            path = RidgePath.of_few_rows(source, NO_PENALTIES, intercept=self.fit_intercept)
            level = path.y_mean if self.fit_intercept else means(source).mean[d:]
            return path, float(path.total[0] / path.weight - (level[0] - path.y_mean[0]) ** 2)
        about = moments(source)
        path = RidgePath.of(source, about, NO_PENALTIES, intercept=self.fit_intercept)
        return path, float(about.covariance()[d, d])

    def _start(self, variance: float) -> Array:
        alpha = 1.0 / (variance + EPSILON)
        return np.array(
            [
                alpha if self.alpha_init is None else self.alpha_init,
                1.0 if self.lambda_init is None else self.lambda_init,
            ]
        )

    def _joint(self, coef: Array, path: RidgePath) -> LinearPosterior:
        if not self.fit_intercept:
            return LinearPosterior(coef, self.sigma_, np.zeros_like(coef), False)
        d = len(coef)
        covariance = np.zeros((d + 1, d + 1))
        covariance[:d, :d] = self.sigma_
        covariance[d, d] = 1.0 / (self.alpha_ * path.weight)
        return LinearPosterior(np.append(coef, path.y_mean[0]), covariance, path.x_mean, True)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the mean of y, and optionally its standard deviation.

        Cost: O(n d) for the mean, O(n d²) with the standard deviation.

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
        centred = rows - self.X_offset_
        spread = np.einsum("ij,ij->i", centred @ self.sigma_, centred)
        return np.sqrt(1.0 / self.alpha_ + spread)

    def _noise_variance(self, n_rows: int, noise: Any) -> float:
        return 1.0 / float(self.alpha_)
