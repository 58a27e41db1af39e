"""Graphical lasso: sparse precision matrices of sparse truths, beside scikit-learn.

Quality is the objective −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij| that was reached, or for the choice
of α by cross-validation the mean surprise −log p(x) of new rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Call, Case, Contender, Data, Study


def sparse_rows(rows: int, columns: int) -> Callable[[bool], Data]:
    """Rows of a Gaussian whose precision matrix has two random edges per column."""

    def build(quick: bool) -> Data:
        n, d = (200, 15) if quick else (rows, columns)
        random = np.random.default_rng(0)
        precision = np.eye(d)
        for i, j in random.integers(d, size=(2 * d, 2)):
            if i != j:
                precision[i, j] = precision[j, i] = 0.3 * random.choice([-1.0, 1.0])
        precision += np.eye(d) * max(0.0, 0.1 - np.linalg.eigvalsh(precision)[0])
        factor = np.linalg.cholesky(np.linalg.inv(precision))
        X = random.standard_normal((2 * n, d)) @ factor.T
        X /= X[:n].std(axis=0)
        return {"X": X[:n], "new": X[n:], "S": np.cov(X[:n].T, bias=True)}

    return build


def fits(module: str, name: str, **parameters: Any) -> Contender:
    """Fit the rows; the model is the answer."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            def call() -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of fits that stop early
                    return model(**parameters).fit(data["X"])

            return call

        return prepare

    return load


def objective(alpha: float) -> Callable[[Data, Any], float]:
    def reached(data: Data, model: Any) -> float:
        Q = model.precision_
        off = np.abs(Q).sum() - np.abs(np.diag(Q)).sum()
        return float(-np.linalg.slogdet(Q)[1] + np.sum(data["S"] * Q) + alpha * off)

    return reached


def surprise(data: Data, model: Any) -> float:
    return -float(model.score(data["new"]))


def at(alpha: float, rows: int, columns: int, *, peers: bool = True) -> Case:
    contenders = {OURS: fits("thetahat", "GraphicalLasso", alpha=alpha)}
    if peers:
        contenders["scikit-learn"] = fits("sklearn.covariance", "GraphicalLasso", alpha=alpha)
    return Case(
        f"GraphicalLasso {rows}×{columns}, α = {alpha:g}",
        sparse_rows(rows, columns),
        contenders,
        objective(alpha),
        "objective",
    )


CASES = (
    at(0.1, 150, 4),
    at(0.2, 300, 100),
    at(0.05, 300, 100),
    at(0.1, 2000, 1000, peers=False),
    Case(
        "GraphicalLassoCV 300×64",
        sparse_rows(300, 64),
        {
            OURS: fits("thetahat", "GraphicalLassoCV"),
            "scikit-learn": fits("sklearn.covariance", "GraphicalLassoCV"),
        },
        surprise,
        "mean −log p of new rows",
        slack=1e-3,  # the penalties that are chosen differ slightly
    ),
)

STUDIES: tuple[Study, ...] = ()
