"""Evidence of a model, log P(D|f): how well the model as a whole explains the data.

    exact         log ∫ P(D|θ) p(θ) dθ, if a model provides it (normal prior, normal noise)
    bic           log P(D|θ̂) − ½ k log n, Laplace's approximation without the terms that do not
                  grow with n; k parameters by maximum likelihood
    cv            Σ log p(yᵢ | xᵢ, rows without i's fold): not P(D|f), but how well new rows are
                  predicted; independent of the priors of the parameters

The three have different scales, so the same one is used for all models that are compared.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.models.linear.bayesian.bayesian_linear_regression import BayesianLinearRegression
from thetahat.models.linear.bayesian.bayesian_ridge import BayesianRidge

EXACT, FITTED, BIC, CROSS_VALIDATED = "exact", "exact at fitted hyperparameters", "bic", "cv"
"""Kinds of evidence, from the most to the least exact."""

LEAST_PROBABILITY = EPSILON
"""Lower bound on predicted probabilities, so that one row cannot decide the comparison."""


def last_step(model: Any) -> Any:
    """The final estimator of a pipeline, or the model itself."""
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def exact_evidence(model: Any) -> tuple[float, str] | None:
    """log P(D|f) of a fitted model that provides it, and whether hyperparameters were fitted too.

    A flat prior of the coefficients has no evidence, because its density depends on units.
    """
    model = last_step(model)
    value = getattr(model, "log_evidence_", None)
    if value is None or not np.isfinite(value):
        return None
    if isinstance(model, BayesianRidge):
        # Like scikit-learn's, this score omits the integral over the flat intercept.
        if model.fit_intercept:
            level = model._posterior.covariance[-1, -1]
            value = value + 0.5 * np.log(2 * np.pi * level)
        return float(value), FITTED
    if isinstance(model, BayesianLinearRegression):
        prior = model.prior_covariance
        if prior is None or not np.isfinite(np.asarray(prior, dtype=float)).all():
            return None
        return float(value), FITTED if model.noise is None and model.noise_ is not None else EXACT
    known = getattr(model, "approximation_", EXACT)
    return (float(value), known) if known in (EXACT, FITTED) else None


def bic_evidence(model: Any) -> float | None:
    """−BIC/2 of a fitted model whose summary has a BIC: a maximum-likelihood fit."""
    summary = summary_of(model)
    value = getattr(summary, "bic", None)
    return None if value is None or not np.isfinite(value) else -float(value) / 2


def summary_of(model: Any) -> Any:
    """Summary of a fitted model, or None if it has none (for example a penalised fit)."""
    model = last_step(model)
    try:
        return model.summary()
    except (AttributeError, CapabilityError, TypeError):
        return None


def predicts_deviation(model: Any) -> bool:
    """Whether ``predict`` can return the standard deviation of a new y.

    The spread of the members of an ensemble is that of the mean alone and does not count.
    """
    model = last_step(model)
    if not hasattr(model, "predict") or hasattr(model, "estimators_"):
        return False
    return "return_std" in signature(model.predict).parameters


def mean_and_deviation(model: Any, X: Any, noise: float | None) -> tuple[Array, Array]:
    """Mean and standard deviation of a new y for each row: from the model, or `noise`."""
    if noise is not None:
        mean = np.asarray(model.predict(X))
        return mean, np.full(mean.shape, noise)
    if isinstance(model, Pipeline):
        X, model = model[:-1].transform(X), model.steps[-1][1]
        return mean_and_deviation(model, X, None)
    mean, deviation = model.predict(X, return_std=True)
    return np.asarray(mean), np.asarray(deviation)


def log_normal(y: Array, mean: Array, deviation: Array) -> Array:
    """log N(y; mean, deviation²); deviations of 0 count as the smallest number."""
    deviation = np.maximum(deviation, np.finfo(np.float64).tiny ** 0.25)
    return -0.5 * (((y - mean) / deviation) ** 2 + np.log(2 * np.pi)) - np.log(deviation)
