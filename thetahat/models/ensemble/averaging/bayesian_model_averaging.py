"""Bayesian model averaging for numbers: a mixture of the models' predictive distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.averaging.model_averaging import ModelAveraging
from thetahat.models.ensemble.averaging.model_evidence import (
    log_normal,
    mean_and_deviation,
    says_how_sure,
    summary_of,
)
from thetahat.models.ensemble.averaging.normal_mixture import mixture_quantile
from thetahat.models.ensemble.combination.base import EnsembleRegressor, average


class BayesianModelAveraging(ModelAveraging, EnsembleRegressor):
    """Regressions weighted by how probable each is given the data.

    Formula: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D) with P(fₘ|D) ∝ P(D|fₘ) P(fₘ). The mean is
    Σ pₘμₘ(x); the variance Σ pₘσₘ²(x) + Σ pₘ(μₘ(x) − μ(x))², what each model is unsure of and what
    they disagree about.

    P(D|fₘ) is exact where every model knows its evidence (`BayesianLinearRegression` with given
    noise; with estimated noise, and for `BayesianRidge`, at the fitted hyperparameters); else
    exp(−BIC/2) where every model was fitted by maximum likelihood; else the density of rows that
    copies fitted without them foresaw (cross-validation, "pseudo-BMA"). ``approximation_`` says
    which. The first two believe that one of the models is true, and settle on one as rows grow.

    Cost: one fit of each model, and ``cv`` more for cross-validation, side by side.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The models by name, of thetahat or your own, pipelines too. "drop" leaves one out.
    evidence : {"auto", "exact", "bic", "cv"}, default="auto"
        How P(D|fₘ) is found; "auto": the first of the three that serves all models.
    prior : array-like of shape (n_models,), optional
        P(fₘ) up to a factor; all alike by default.
    cv : int, splitter or iterable, optional
        Folds of "cv"; 5 by default.

    Attributes
    ----------
    estimators_ : list of estimators
        The models, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    posterior_ : array of shape (n_models,)
        P(fₘ|D).
    log_evidences_ : array of shape (n_models,)
        log P(D|fₘ).
    log_evidence_ : float
        log P(D) = log Σ P(D|fₘ) P(fₘ).
    approximation_ : str
        "exact", "exact at fitted hyperparameters", "bic" or "cv".
    noise_ : list of float or None
        Standard deviation of y about models that do not give their own; None where they do.

    Examples
    --------
    A straight line, a parabola and a cubic; the rows are a parabola:

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

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        evidence: str = "auto",
        prior: Any = None,
        cv: Any = None,
    ) -> None:
        self.estimators = estimators
        self.evidence = evidence
        self.prior = prior
        self.cv = cv

    @classmethod
    def _example(cls) -> BayesianModelAveraging:
        from thetahat.models.linear.bayesian.bayesian_linear_regression import (
            BayesianLinearRegression,
        )

        narrow, wide = (BayesianLinearRegression(prior_covariance=each) for each in (1.0, 100.0))
        return cls([("narrow", narrow), ("wide", wide)])

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> BayesianModelAveraging:
        """Fit every model to all rows, and find the probability of each.

        Parameters
        ----------
        X : anything the models take, of n rows
            Features.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; every model must take them.
        **fit_params
            Routed to the models, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_models(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of y at new rows, and how far y may lie from it.

        Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            The rows.
        return_std : bool, default=False
            Also return the standard deviation of a new y, the models' disagreement in it.

        Returns
        -------
        array of shape (n,), or two of them
        """
        check_is_fitted(self)
        self._same_columns(X)
        if not return_std:
            each = [np.asarray(member.predict(X)) for member in self.estimators_]
            return average(each, self.posterior_)
        means, deviations = self._each(X)
        mean = self.posterior_ @ means
        spread = self.posterior_ @ deviations**2 + self.posterior_ @ (means - mean) ** 2
        return mean, np.sqrt(spread)

    def predict_interval(self, X: Any, *, level: float = 0.95) -> tuple[Array, Array]:
        """Bounds that hold a new y with the given probability: quantiles of the mixture.

        Formula: q with Σ pₘ Φ((q − μₘ)/σₘ) = (1 ± level)/2. Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            The rows.
        level : float, default=0.95
            The probability.

        Returns
        -------
        low, high : arrays of shape (n,)
        """
        check_is_fitted(self)
        self._same_columns(X)
        if not 0 < level < 1:
            raise ParameterError(f"level={level!r} must lie between 0 and 1, such as 0.95.")
        parts = (self.posterior_, *self._each(X))
        return mixture_quantile((1 - level) / 2, *parts), mixture_quantile((1 + level) / 2, *parts)

    def _each(self, X: Any) -> tuple[Array, Array]:
        """Means and standard deviations of every model, of shape (M, n)."""
        pairs = zip(self.estimators_, self.noise_, strict=True)
        found = [mean_and_deviation(member, X, noise) for member, noise in pairs]
        return np.array([mean for mean, _ in found]), np.array([spread for _, spread in found])

    def _prepare(self, X: Any, y: Array, weight: Array) -> None:
        self.noise_ = [
            None if says_how_sure(member) else _noise_about(member, X, y, weight)
            for member in self.estimators_
        ]

    def _score_fold(self, member: Any, X: Any, y: Array) -> Array:
        """Mean and standard deviation; NaN where a model does not say how sure it is."""
        if says_how_sure(member):
            return np.column_stack(mean_and_deviation(member, X, None))
        return np.column_stack([np.asarray(member.predict(X)), np.full(len(y), np.nan)])

    def _log_density(self, place: int, scores: Array, y: Array, weight: Array) -> float:
        mean, deviation = scores.T
        if self.noise_[place] is not None:
            # The spread about predictions out of fold, not that about rows learned by heart.
            self.noise_[place] = float(np.sqrt(weight @ (y - mean) ** 2 / weight.sum()))
            deviation = np.full(len(y), self.noise_[place])
        return float(weight @ log_normal(y, mean, deviation))


def _noise_about(model: Any, X: Any, y: Array, weight: Array) -> float:
    """σ̂ of a fit by maximum likelihood, which knows its degrees of freedom; else the residuals'."""
    sigma = getattr(summary_of(model), "sigma", None)
    if sigma is not None and np.isfinite(sigma):
        return float(sigma)
    residuals = y - np.asarray(model.predict(X))
    return float(np.sqrt(weight @ residuals**2 / weight.sum()))
