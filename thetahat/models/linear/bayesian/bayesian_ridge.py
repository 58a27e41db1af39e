"""Bayesian ridge: β ~ N(0, 1/λ), y ~ N(Xβ + b, 1/α), with α and λ that maximise the evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.moments import dense_rows, means, moments
from thetahat.estimator.linear import DIRECT_SIZE, LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, more_than, none, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.models.linear.bayesian.credible_intervals import Credible
from thetahat.models.linear.bayesian.posterior import LinearPosterior
from thetahat.objective.least_squares.ridge_evidence import (
    EvidenceFixedPoint,
    Hyperprior,
    RidgeEvidence,
)
from thetahat.objective.least_squares.ridge_path import RidgePath

NO_PENALTIES = np.empty(0)


class BayesianRidge(Credible, Watched, LinearRegressor):
    """Ridge regression that finds its own penalty and says how sure it is.

    Formula: β ~ N(0, I/λ), y | x ~ N(xᵀβ + b, 1/α), b flat; α and λ maximise the evidence
    p(y | α, λ), with Gamma priors (αᵢ, λᵢ) of both. Then β | y ~ N(m, Σ) with
    Σ = (λI + αXᵀX)⁻¹ and m = αΣXᵀy on centred data: ridge with penalty λ/α.

    Cost: one Gram matrix, O(n d²), and its spectrum, O(d³); then O(d²) for each step, whatever n.
    The rows may be in memory, sparse or in a file.

    Parameters
    ----------
    max_iter : int, default=300
        Most steps.
    tol : float, default=1e-3
        Σ|change of β| at which the steps end.
    alpha_1, alpha_2, lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the Gamma priors of α and of λ.
    alpha_init, lambda_init : float, optional
        Where the steps begin; by default 1/Var(y) and 1.
    compute_score : bool, default=False
        Keep the log evidence of every step in ``scores_``.
    fit_intercept : bool, default=True
        Whether b is fitted.
    copy_X : bool, default=True
        Kept for compatibility; X is never changed.
    verbose : bool, default=False
        Kept for compatibility; callbacks report progress.

    Attributes
    ----------
    coef_, intercept_, solution_, n_iter_
        As in `LinearRegression`; ``solution_.value`` is −log evidence.
    alpha_, lambda_ : float
        Precision of the noise and of the weights.
    sigma_ : array of shape (d, d)
        Posterior covariance of the coefficients.
    scores_ : array of shape (steps + 1,) or list
        Log evidence at the start, after each step, and at the end, with ``compute_score``.
    log_evidence_ : float
        Log evidence at the end, hyperpriors included as in ``scores_``.
    X_offset_, X_scale_ : array of shape (d,)
        What was subtracted from the columns; ones.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 5, noise=0.5, random_state=0)
    >>> model = th.BayesianRidge().fit(data.X, data.y)
    >>> round(float(model.alpha_ ** -0.5), 1)
    0.5
    >>> mean, std = model.predict(data.X[:2], return_std=True)
    """

    _ranges = {  # noqa: RUF012
        "max_iter": whole(1),
        "tol": at_least(0),
        "alpha_1": at_least(0),
        "alpha_2": at_least(0),
        "lambda_1": at_least(0),
        "lambda_2": at_least(0),
        "alpha_init": more_than(0) | none,
        "lambda_init": more_than(0) | none,
        "compute_score": boolean,
        "fit_intercept": boolean,
    }
    _multi_output = False

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1.0e-3,
        alpha_1: float = 1.0e-6,
        alpha_2: float = 1.0e-6,
        lambda_1: float = 1.0e-6,
        lambda_2: float = 1.0e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BayesianRidge:
        """Fit to rows in memory (X, y) or to a source that brings its own targets.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Targets; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
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
                reason="precisions by the evidence: one spectrum, then O(d²) a step",
                keep_trace=self.compute_score,
            )
        theta = evidence.improved(self.solution_.theta)
        self.solution_ = replace(self.solution_, theta=theta, value=evidence.value(theta))
        self.__dict__.update(attributes(theta))
        self.n_iter_, self.log_evidence_ = self.solution_.steps + 1, -self.solution_.value
        trace = [-value for value in self.solution_.trace]
        self.scores_: Any = np.array([*trace, self.log_evidence_]) if self.compute_score else []
        self.X_offset_, self.X_scale_ = path.x_mean, np.ones(source.n_features)
        self.sigma_ = evidence.covariance(theta)
        self._posterior = self._joint(evidence.coefficients(theta), path)
        self._warn_unless_converged()
        return self

    def _spectrum(self, source: Source) -> tuple[RidgePath, float]:
        """Eigenvectors of the normal equations (n × n where there are fewer rows), and Var(y)."""
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
        path = RidgePath.of(about if self.fit_intercept else about.about_zero(), NO_PENALTIES)
        return path, float(about.covariance()[d, d])

    def _start(self, variance: float) -> Array:
        alpha = 1.0 / (variance + np.finfo(float).eps)
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
        """The mean of y at new rows, and how far y may lie from it. Cost: O(n d²) with the latter.

        Formula: xᵀm + b, and √(1/α + (x − x̄)ᵀΣ(x − x̄)), the intercept taken as known, as in
        scikit-learn; `predict_interval` counts its variance too.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.
        return_std : bool, default=False
            Whether to return the standard deviation of a new y as well.

        Returns
        -------
        array of shape (n,), or two of them
        """
        mean = self._raw(X)
        if not return_std:
            return mean
        # A small array that `_raw` took as it is needs no second look.
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
