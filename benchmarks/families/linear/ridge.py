"""Ridge regression and its choice of a penalty, beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.families.linear.linear import (
    GRAM,
    dense,
    fit,
    mean_squared_residual,
    rivals,
    theta_of,
)
from benchmarks.harness import Bar, Case, Data
from benchmarks.peers import SKLEARN, with_intelex

ALPHAS = np.logspace(-3, 6, 50)


def ridge_objective(data: Data, result: Any) -> float:
    coef, _ = theta_of(result)
    return mean_squared_residual(data, result) + float(coef @ coef) / data["y"].size


def leave_one_out_error(data: Data, result: Any) -> float:
    """Σ (residual / (1 − leverage))² / n of the chosen alpha."""
    coef, intercept = theta_of(result)
    X = data["X"] - data["X"].mean(axis=0)
    inverse = np.linalg.inv(X.T @ X + result.alpha_ * np.eye(X.shape[1]))
    leverage = 1 / X.shape[0] + np.einsum("ij,ij->i", X @ inverse, X)
    residual = data["y"] - data["X"] @ coef - intercept
    return float(np.mean((residual / (1 - leverage)) ** 2))


CASES = (
    Case(
        "Ridge 200k×200",
        dense(200_000, 200),
        rivals("Ridge", alpha=1.0),
        ridge_objective,
        "mean squared residual + penalty",
        GRAM,
        "X.T @ X",
        with_intelex("Ridge", Bar(SKLEARN, 1.0)),
    ),
    Case(
        "RidgeCV 200k×200, 50 alphas",
        dense(200_000, 200),
        rivals("RidgeCV", alphas=ALPHAS),
        leave_one_out_error,
        "leave-one-out mean squared error",
        (fit("thetahat", "Ridge"),),
        "one Ridge fit",
        (Bar("limit", 2.0),),
    ),
)

STUDIES = ()
