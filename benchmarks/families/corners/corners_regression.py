"""Least squares at the edges: small, wide, sparse and float32 rows, tables of pandas, and curves.

Each case has the objective that both libraries minimise as its quality, and the bar that thetahat
takes no longer than the peer. Other losses and penalties are in `corners_losses`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import fit
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data
from benchmarks.peers import SKLEARN, contenders, with_intelex

SCIPY = "SciPy curve_fit"
EPSILON, POWER = 1.35, 1.5
Build = Callable[[bool], Data]
Objective = Callable[[Any, Any, Any], float]


def target(z: Any, kind: str, random: np.random.Generator) -> Any:
    """Targets of one kind for rows whose linear predictor is z."""
    z = (z - z.mean()) / max(float(z.std()), 1e-30)
    if kind == "counts":
        return random.poisson(np.exp(z)).astype(float)
    if kind == "positive":
        return random.gamma(2.0, np.exp(z) / 2.0) + 1e-3
    if kind == "classes":
        return np.digitize(z, np.quantile(z, np.linspace(0, 1, 21)[1:-1]))
    if kind == "several":
        return z[:, None] * np.arange(1, 6) + 0.5 * random.standard_normal((len(z), 5))
    y = 3.0 + z + 0.5 * random.standard_normal(len(z))
    if kind == "outliers":
        wrong = random.random(len(z)) < 0.05
        y[wrong] += random.normal(0.0, 100.0, int(wrong.sum()))
    return y


def dense(rows: int, columns: int, kind: str = "real", dtype: Any = np.float64) -> Build:
    """Gaussian columns, ten of them in use."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 60), min(columns, 90)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        y = target(X[:, :10] @ random.standard_normal(min(10, d)), kind, random)
        X = X.astype(dtype)
        return {"X": X, "y": y if kind == "classes" else y.astype(dtype), "weight": None}

    return build


def sparse(rows: int, columns: int, density: float, kind: str = "real") -> Build:
    """Uniform entries at random places."""

    def build(quick: bool) -> Data:
        import scipy.sparse

        n, d = (min(rows, 200), min(columns, 100)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = scipy.sparse.csr_array(
            scipy.sparse.random_array((n, d), density=max(density, 5 / d), rng=random, format="csr")
        )
        return {"X": X, "y": target(X @ random.standard_normal(d), kind, random), "weight": None}

    return build


def text(rows: int, columns: int, kind: str = "real", dtype: Any = np.float64) -> Build:
    """Rows like weighted counts of words: frequent columns and rare ones, rows of length one."""

    def build(quick: bool) -> Data:
        import scipy.sparse

        n, d, per_row = (200, 400, 20) if quick else (rows, columns, 90)
        random = np.random.default_rng(0)
        share = np.cumsum(1.0 / np.arange(1, d + 1) ** 0.9)
        which = np.searchsorted(share / share[-1], random.random(n * per_row))
        place = (np.repeat(np.arange(n), per_row), np.minimum(which, d - 1))
        counts = scipy.sparse.coo_array((np.ones(n * per_row), place), shape=(n, d)).tocsr()
        length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)))
        X = scipy.sparse.csr_array(counts.multiply(1.0 / length[:, None]), dtype=dtype)
        X.sort_indices()
        y = target(X @ random.standard_normal(d), kind, random)
        return {"X": X, "y": y if kind == "classes" else y.astype(dtype), "weight": None}

    return build


def ridge(alpha: float) -> Objective:
    def value(X: Any, y: Any, model: Any) -> float:
        if not np.issubdtype(y.dtype, np.floating):
            y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
        residual = y - (X @ model.coef_.T + model.intercept_)
        return float(np.sum(residual**2) + alpha * np.sum(np.square(model.coef_, dtype=float)))

    return value


def deviance(of: str, alpha: float = 1.0) -> Objective:
    """Half the mean deviance up to terms of y, and the L2 penalty."""

    def value(X: Any, y: Any, model: Any) -> float:
        from scipy.special import xlogy

        z = X @ model.coef_ + model.intercept_
        loss = {
            "Poisson": lambda: np.exp(z) - y * z + xlogy(y, y) - y,
            "Gamma": lambda: z + y * np.exp(-z),
            "Tweedie": lambda: (
                np.exp((2 - POWER) * z) / (2 - POWER) - y * np.exp((1 - POWER) * z) / (1 - POWER)
            ),
        }[of]()
        return float(np.mean(loss) + alpha / 2 * np.sum(model.coef_**2))

    return value


def huber(alpha: float = 1e-4) -> Objective:
    def value(X: Any, y: Any, model: Any) -> float:
        size = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
        loss = np.where(size <= EPSILON, size**2, 2 * EPSILON * size - EPSILON**2)
        return float(model.scale_ * np.sum(1 + loss) + alpha * np.sum(model.coef_**2))

    return value


def lasso(alpha: float) -> Objective:
    """With several targets, the norm of a column's coefficients stands for their size."""

    def value(X: Any, y: Any, model: Any) -> float:
        residual = y - X @ model.coef_.T - model.intercept_
        size = np.sqrt(np.sum(np.atleast_2d(model.coef_) ** 2, axis=0))
        return float(np.sum(residual**2) / 2 / len(y) + alpha * np.sum(size))

    return value


def case(name: str, data: Build, objective: Objective, slack: float = 1e-6, **params: Any) -> Case:
    """One estimator, named by the first word of the case, beside those of that name."""
    estimator = name.split()[0]
    return Case(
        name,
        data,
        contenders(
            lambda module: fit(module, estimator, **params), "sklearn.linear_model", estimator
        ),
        lambda data, model: objective(data["X"], data["y"], model),
        "objective",
        bars=with_intelex(estimator, Bar(SKLEARN, 1.0)),
        slack=slack,
    )


def predicting(rows: int, columns: int) -> Case:
    """`predict` of a pandas frame by a fitted model."""

    def table(quick: bool) -> Data:
        import pandas as pd

        data = dense(rows, columns)(quick)
        names = [f"column {j}" for j in range(data["X"].shape[1])]
        return {**data, "X": pd.DataFrame(data["X"], columns=names)}

    def contender(module: str) -> Contender:
        def load() -> Callable[[Data], Call]:
            prepare = fit(module, "Ridge")()

            def predict(data: Data) -> Call:
                model = prepare(data)()
                return lambda: model.predict(data["X"])

            return predict

        return load

    return Case(
        f"Ridge.predict of a frame, {rows}×{columns}",
        table,
        contenders(contender, "sklearn.linear_model", "Ridge"),
        lambda data, found: float(np.mean((data["y"] - found) ** 2)),
        "mean squared residual",
        bars=(Bar(SKLEARN, 1.0),),
    )


def decay(x: Any, height: Any, rate: Any, level: Any) -> Any:
    """An exponential decay to a level."""
    return height * np.exp(-rate * x) + level


def curve(rows: int) -> Case:
    def build(quick: bool) -> Data:
        n = min(rows, 50) if quick else rows
        x = np.linspace(0.0, 4.0, n)
        noise = 0.05 * np.random.default_rng(0).standard_normal(n)
        return {"x": x, "y": decay(x, 2.5, 1.3, 0.5) + noise}

    def ours() -> Callable[[Data], Call]:
        import thetahat as th

        model = th.NonlinearRegression(decay, [1.0, 1.0, 1.0])
        return lambda data: lambda: model.fit(data["x"], data["y"]).theta_

    def scipy() -> Callable[[Data], Call]:
        from scipy.optimize import curve_fit

        return lambda data: lambda: curve_fit(decay, data["x"], data["y"], p0=[1.0, 1.0, 1.0])[0]

    return Case(
        f"NonlinearRegression {rows} rows, 3 parameters",
        build,
        {OURS: ours, SCIPY: scipy},
        lambda data, theta: float(np.sum((data["y"] - decay(data["x"], *theta)) ** 2)),
        "sum of squares",
        bars=(Bar(SCIPY, 1.0),),
    )


SINGLE = np.float32
CASES = (
    case("Ridge text 5000×30000", text(5000, 30_000), ridge(1.0)),
    case("Ridge text float32", text(5000, 30_000, dtype=SINGLE), ridge(1.0)),
    case("Ridge sparse 1000×2000", sparse(1000, 2000, 0.01), ridge(1.0)),
    case("Ridge 100×10", dense(100, 10), ridge(1.0)),
    case("Ridge 300×3000", dense(300, 3000), ridge(1.0)),
    case("RidgeClassifier text, 20 classes", text(5000, 30_000, "classes"), ridge(1.0)),
    case("LinearRegression 5000×1000", dense(5000, 1000), ridge(0.0)),
    case("Ridge 5000×1000", dense(5000, 1000), ridge(1.0)),
    case("LinearRegression 150000×150 float32", dense(150_000, 150, dtype=SINGLE), ridge(0.0)),
    case("LinearRegression sparse 20000×5000", sparse(20_000, 5000, 0.005), ridge(0.0)),
    case("LinearRegression text 5000×2000", text(5000, 2000), ridge(0.0)),
    case("LinearRegression sparse 100×20", sparse(100, 20, 0.2), ridge(0.0)),
    predicting(100, 10),
    predicting(10_000, 50),
    curve(200),
    curve(10_000),
)

STUDIES = ()
