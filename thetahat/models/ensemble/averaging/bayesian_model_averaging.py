"""Bayesian model averaging for regression: a mixture of the predictive distributions of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.arguments import require_level
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.mixture import mixture_quantile
from thetahat.models.ensemble.averaging.model_averaging import ModelAveraging
from thetahat.models.ensemble.averaging.model_evidence import (
    log_normal,
    mean_and_deviation,
    predicts_deviation,
    summary_of,
)
from thetahat.models.ensemble.combination.base import EnsembleRegressor, average


@with_parameters
class BayesianModelAveraging(ModelAveraging, EnsembleRegressor):
    """Bayesian model averaging of regressors, weighted by their posterior probabilities.

    Formula: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D) with P(fₘ|D) ∝ P(D|fₘ) P(fₘ). The mean is Σ
    pₘμₘ(x). The variance is Σ pₘσₘ²(x) + Σ pₘ(μₘ(x) − μ(x))²: the uncertainty of each model plus
    the disagreement between models.

    The evidence P(D|fₘ) is exact if every model provides it (`BayesianLinearRegression` with given
    noise; with estimated noise, and for `BayesianRidge`, at the fitted hyperparameters). Otherwise
    it is exp(−BIC/2) if every model was fitted by maximum likelihood, and otherwise the
    cross-validated predictive density ("pseudo-BMA"). ``approximation_`` reports which one was
    used. The first two assume that one of the models is true and concentrate on one model as the
    number of rows grows.

    Cost: one fit of each model, and ``cv`` more for cross-validation, run in parallel.

    Attributes
    ----------
    noise_ : list of float or None
        Standard deviation of y for models that do not provide it; None for the others.

    Examples
    --------
    Polynomials of degree 1, 2 and 3, fitted to a parabola:

    >>> import numpy as np
    >>> import thetahat as th
    >>> from sklearn.pipeline import make_pipeline
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(-2, 2, (40, 1))
    >>> y = X[:, 0] ** 2 + 0.3 * random.standard_normal(40)
    >>> models = [
    ...     (f"degree {d}", make_pipeline(
    ...         th.MonomialExpansion(d, include_bias=False),
    ...         th.BayesianLinearRegression(noise=0.3)))
    ...     for d in (1, 2, 3)]
    >>> average = th.BayesianModelAveraging(models).fit(X, y)
    >>> average.posterior_.round(2), average.approximation_
    (array([0.  , 0.94, 0.06]), 'exact')
    >>> mean, std = average.predict([[1.0]], return_std=True)
    """

    @classmethod
    def _example(cls) -> BayesianModelAveraging:
        from thetahat.models.linear.bayesian.bayesian_linear_regression import (
            BayesianLinearRegression,
        )

        narrow, wide = (BayesianLinearRegression(prior_covariance=each) for each in (1.0, 100.0))
        return cls([("narrow", narrow), ("wide", wide)])

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the posterior mean of y. Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            If True, also return the standard deviation of a new y, which includes the disagreement
            between the models.

        Returns
        -------
        array of shape (n,), or a pair of such arrays
            Means and, with ``return_std=True``, standard deviations.
        """
        check_is_fitted(self)
        X = self._same_columns(X)
        if not return_std:
            each = [np.asarray(member.predict(X)) for member in self.estimators_]
            return average(each, self.posterior_)
        means, deviations = self._each(X)
        mean = self.posterior_ @ means
        spread = self.posterior_ @ deviations**2 + self.posterior_ @ (means - mean) ** 2
        return mean, np.sqrt(spread)

    def predict_interval(self, X: Any, *, level: float = 0.95) -> tuple[Array, Array]:
        """Compute prediction intervals from the quantiles of the mixture.

        Formula: q with Σ pₘ Φ((q − μₘ)/σₘ) = (1 ± level)/2. Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability that a new y lies in the interval, between 0 and 1. Larger values give wider
            intervals.

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds of the intervals.
        """
        check_is_fitted(self)
        X = self._same_columns(X)
        require_level(level)
        parts = (self.posterior_, *self._each(X))
        return mixture_quantile((1 - level) / 2, *parts), mixture_quantile((1 + level) / 2, *parts)

    def _each(self, X: Any) -> tuple[Array, Array]:
        """Means and standard deviations of every model, of shape (M, n)."""
        pairs = zip(self.estimators_, self.noise_, strict=True)
        found = [mean_and_deviation(member, X, noise) for member, noise in pairs]
        return np.array([mean for mean, _ in found]), np.array([spread for _, spread in found])

    def _noise(self, member: Any, X: Any, y: Array, weight: Array) -> float | None:
        return None if predicts_deviation(member) else _noise_about(member, X, y, weight)

    def _attributes_of(self, noise: list[float | None]) -> dict[str, Any]:
        return {"noise_": noise}

    def _score_fold(self, member: Any, X: Any, y: Array) -> Array:
        """Mean and standard deviation; NaN if the model provides no standard deviation."""
        if predicts_deviation(member):
            return np.column_stack(mean_and_deviation(member, X, None))
        return np.column_stack([np.asarray(member.predict(X)), np.full(len(y), np.nan)])

    def _log_density(
        self, scores: Array, y: Array, weight: Array, place: int, noise: list[float | None]
    ) -> float:
        mean, deviation = scores.T
        if noise[place] is not None:
            # Residuals of out-of-fold predictions; those of training rows would be too small.
            noise[place] = float(np.sqrt(weight @ (y - mean) ** 2 / weight.sum()))
            deviation = np.full(len(y), noise[place])
        return float(weight @ log_normal(y, mean, deviation))


def _noise_about(model: Any, X: Any, y: Array, weight: Array) -> float:
    """σ̂ from the summary of a maximum-likelihood fit, or else from the residuals."""
    sigma = getattr(summary_of(model), "sigma", None)
    if sigma is not None and np.isfinite(sigma):
        return float(sigma)
    residuals = y - np.asarray(model.predict(X))
    return float(np.sqrt(weight @ residuals**2 / weight.sum()))
