"""Bayesian linear regression and the simple generalised linear models, beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import (
    GRAM,
    SKLEARN,
    STATSMODELS,
    dense,
    fit,
    predict_one,
    prediction_error,
    product_of_one_row,
    rivals,
    theta_of,
)
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

CLASSES = 10
TIGHT = 1e-8
"""Tolerance at which both reach the same optimum, so that speed is not an early stop."""


def counts(rows: int, columns: int) -> Callable[[bool], Data]:
    """y ~ Poisson(exp(Xθ + b)) with rates around one."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 2000), min(columns, 20)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        y = random.poisson(np.exp(X @ random.standard_normal(d) / (2 * d**0.5) + 0.3))
        design = np.column_stack([np.ones(n), X])
        return {"X": X, "y": y.astype(float), "weight": None, "design": design}

    return build


def labels(rows: int, columns: int) -> Callable[[bool], Data]:
    """Ten classes: the largest of ten noisy linear scores."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 2000), min(columns, 20)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        scores = X @ random.standard_normal((d, CLASSES)) + random.gumbel(size=(n, CLASSES))
        return {"X": X, "y": scores.argmax(axis=1), "weight": None}

    return build


def negative_log_evidence(data: Data, model: Any) -> float:
    """−log p(y | α, λ) of the precisions found, by an eigendecomposition made here."""
    X, y = data["X"] - data["X"].mean(axis=0), data["y"] - data["y"].mean()
    n, d = X.shape
    alpha, weight = float(model.alpha_), float(model.lambda_)
    values, vectors = np.linalg.eigh(X.T @ X)
    mean = vectors @ ((vectors.T @ (X.T @ y)) / (values + weight / alpha))
    squares = float(((y - X @ mean) ** 2).sum())
    return -0.5 * float(
        d * np.log(weight)
        + n * np.log(alpha)
        - alpha * squares
        - weight * (mean @ mean)
        - np.log(weight + alpha * values).sum()
        - n * np.log(2 * np.pi)
    )


def poisson_objective(penalty: float) -> Callable[[Data, Any], float]:
    def quality(data: Data, result: Any) -> float:
        coef, intercept = theta_of(result)
        z = data["X"] @ coef + intercept
        return float(np.mean(np.exp(z) - data["y"] * z) + penalty / 2 * coef @ coef)

    return quality


def sign_objective(data: Data, model: Any) -> float:
    """Mean squared distance from targets of ±1, and the penalty."""
    signs = np.where(data["y"][:, None] == np.arange(CLASSES), 1.0, -1.0)
    residual = signs - data["X"] @ model.coef_.T - model.intercept_
    return float((residual**2).sum() + (model.coef_**2).sum()) / len(signs)


def predict_one_with_deviation(module: str, name: str) -> Contender:
    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            model, row = estimator().fit(data["X"], data["y"]), data["X"][:1]
            return lambda: (model, model.predict(row, return_std=True))

        return prepare

    return load


def deviation_error(data: Data, result: Any) -> float:
    """Relative distance from √(1/α + xᵀΣx) computed here, rounded up to 1e-14."""
    model, (_, deviation) = result
    row = data["X"][:1] - data["X"].mean(axis=0)
    exact = np.sqrt(1 / model.alpha_ + row @ model.sigma_ @ row.T)[0]
    return max(1e-14, float(np.max(np.abs((deviation - exact) / exact))))


def statsmodels_poisson() -> Callable[[Data], Call]:
    """A fit with standard errors, by iteratively reweighted least squares."""
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    def prepare(data: Data) -> Call:
        def call() -> tuple[Any, float]:
            found = GLM(data["y"], data["design"], family=Poisson()).fit(tol=1e-12)
            assert np.isfinite(found.bse).all()
            return found.params[1:], found.params[0]

        return call

    return prepare


def fit_with_summary(name: str, **parameters: Any) -> Contender:
    """A fit of ours, and its standard errors."""

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module("thetahat"), name)

        def prepare(data: Data) -> Call:
            def call() -> Any:
                model = estimator(**parameters).fit(data["X"], data["y"])
                model.summary()
                return model

            return call

        return prepare

    return load


CASES = (
    Case(
        "BayesianRidge 200k×200",
        dense(200_000, 200),
        rivals("BayesianRidge"),
        negative_log_evidence,
        "negative log evidence",
        GRAM,
        "X.T @ X",
        (Bar(SKLEARN, 1 / 8),),
    ),
    Case(
        "BayesianRidge 300×2000",
        dense(300, 2000),
        rivals("BayesianRidge"),
        negative_log_evidence,
        "negative log evidence",
        slack=1e-6,
    ),
    Case(
        "PoissonRegressor 200k×100",
        counts(200_000, 100),
        {
            OURS: fit("thetahat", "PoissonRegressor", alpha=1e-3, tol=TIGHT, max_iter=1000),
            "thetahat auto": fit(
                "thetahat", "PoissonRegressor", alpha=1e-3, tol=TIGHT, solver="auto"
            ),
            SKLEARN: fit(
                "sklearn.linear_model", "PoissonRegressor", alpha=1e-3, tol=TIGHT, max_iter=1000
            ),
            "scikit-learn newton-cholesky": fit(
                "sklearn.linear_model",
                "PoissonRegressor",
                alpha=1e-3,
                tol=TIGHT,
                solver="newton-cholesky",
            ),
        },
        poisson_objective(1e-3),
        "mean half deviance + penalty",
        bars=(Bar("scikit-learn newton-cholesky", 1.0),),
    ),
    Case(
        "Poisson maximum likelihood with standard errors 50k×50",
        counts(50_000, 50),
        {
            OURS: fit_with_summary("PoissonRegressor", alpha=0.0, solver="newton", tol=1e-9),
            STATSMODELS: statsmodels_poisson,
        },
        poisson_objective(0.0),
        "mean half deviance",
        bars=(Bar(STATSMODELS, 1.0),),
    ),
    Case(
        "RidgeClassifier 200k×200, 10 classes",
        labels(200_000, 200),
        rivals("RidgeClassifier"),
        sign_objective,
        "mean squared residual + penalty",
        GRAM,
        "X.T @ X",
        (Bar(SKLEARN, 1.0),),
    ),
    Case(
        "BayesianRidge, predict one row of 20",
        dense(1000, 20),
        {
            OURS: predict_one("thetahat", "BayesianRidge"),
            SKLEARN: predict_one("sklearn.linear_model", "BayesianRidge"),
        },
        prediction_error,
        "relative error of the prediction",
        (product_of_one_row,),
        "x @ θ + b",
        (Bar(SKLEARN, 1 / 3),),
    ),
    Case(
        "BayesianRidge, predict one row of 20 with its deviation",
        dense(1000, 20),
        {
            OURS: predict_one_with_deviation("thetahat", "BayesianRidge"),
            SKLEARN: predict_one_with_deviation("sklearn.linear_model", "BayesianRidge"),
        },
        deviation_error,
        "relative error of the deviation",
        (product_of_one_row,),
        "x @ θ + b",
        (Bar(SKLEARN, 1 / 3),),
    ),
)

STUDIES: tuple[Study, ...] = ()
