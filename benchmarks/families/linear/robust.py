"""Robust and quantile regression beside scikit-learn and statsmodels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import GRAM, SKLEARN, STATSMODELS, dense, fit
from benchmarks.harness import OURS, Bar, Call, Case, Data

EPSILON, ALPHA = 1.35, 1e-4
QUANTILE = 0.3


def with_outliers(rows: int, columns: int, share: float = 0.05) -> Callable[[bool], Data]:
    """The dense rows of the linear family; a share of their targets is far off."""

    def build(quick: bool) -> Data:
        data = dict(dense(rows, columns)(quick))
        random = np.random.default_rng(1)
        y = data["y"].copy()
        wrong = random.random(len(y)) < share
        y[wrong] += random.normal(0.0, 100.0, int(wrong.sum()))
        return {**data, "y": y}

    return build


def huber_objective(data: Data, model: Any) -> float:
    """(Σ (σ + H(r/σ)σ) + α‖β‖²)/n, what scikit-learn's HuberRegressor minimises."""
    size = np.abs(data["y"] - data["X"] @ model.coef_ - model.intercept_) / model.scale_
    loss = np.where(size <= EPSILON, size**2, 2 * EPSILON * size - EPSILON**2)
    mean = model.scale_ * (1 + float(np.mean(loss)))
    return mean + ALPHA * float(np.sum(model.coef_**2)) / len(size)


def pinball(data: Data, result: Any) -> float:
    """The mean quantile loss."""
    coef, intercept = result if isinstance(result, tuple) else (result.coef_, result.intercept_)
    residual = data["y"] - data["X"] @ coef - intercept
    return float(np.mean(np.maximum(QUANTILE * residual, (QUANTILE - 1) * residual)))


def median_residual(data: Data, result: Any) -> float:
    """The median |r|: every M-estimate here has that of its own fit for its scale."""
    coef, intercept = result if isinstance(result, tuple) else (result.coef_, result.intercept_)
    return float(np.median(np.abs(data["y"] - data["X"] @ coef - intercept)))


def statsmodels_quantreg() -> Callable[[Data], Call]:
    from statsmodels.regression.quantile_regression import QuantReg

    def prepare(data: Data) -> Call:
        def call() -> tuple[Any, float]:
            theta = QuantReg(data["y"], data["design"]).fit(q=QUANTILE).params
            return theta[1:], theta[0]

        return call

    return prepare


def statsmodels_rlm() -> Callable[[Data], Call]:
    from statsmodels.robust import norms
    from statsmodels.robust.robust_linear_model import RLM

    def prepare(data: Data) -> Call:
        def call() -> tuple[Any, float]:
            model = RLM(data["y"], data["design"], M=norms.TukeyBiweight())
            theta = model.fit(tol=1e-8, maxiter=500).params
            return theta[1:], theta[0]

        return call

    return prepare


CASES = (
    Case(
        "HuberRegressor 200k×200, 5% outliers",
        with_outliers(200_000, 200),
        {
            OURS: fit("thetahat", "HuberRegressor"),
            SKLEARN: fit("sklearn.linear_model", "HuberRegressor"),
        },
        huber_objective,
        "mean objective",
        GRAM,
        "X.T @ X",
        (Bar(SKLEARN, 1 / 3),),
    ),
    Case(
        "QuantileRegressor 10k×20",
        with_outliers(10_000, 20),
        {
            OURS: fit("thetahat", "QuantileRegressor", quantile=QUANTILE, alpha=0.0),
            SKLEARN: fit("sklearn.linear_model", "QuantileRegressor", quantile=QUANTILE, alpha=0.0),
            STATSMODELS: statsmodels_quantreg,
        },
        pinball,
        "mean quantile loss",
        bars=(Bar(SKLEARN, 1 / 3), Bar(STATSMODELS, 1.0)),
    ),
    Case(
        "QuantileRegressor 200k×20",
        with_outliers(200_000, 20),
        {
            OURS: fit("thetahat", "QuantileRegressor", quantile=QUANTILE, alpha=0.0),
            STATSMODELS: statsmodels_quantreg,
        },
        pinball,
        "mean quantile loss",
    ),
    Case(
        "RobustRegressor tukey 50k×20",
        with_outliers(50_000, 20),
        {
            OURS: fit("thetahat", "RobustRegressor", loss="tukey"),
            STATSMODELS: statsmodels_rlm,
        },
        median_residual,
        "median residual",
        slack=1e-5,
    ),
)

STUDIES = ()
