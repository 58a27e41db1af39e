"""Least squares: speed beside scikit-learn, SciPy and statsmodels; digits; memory from files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear_accuracy import correct_digits
from benchmarks.families.linear.linear_files import memory_against_rows
from benchmarks.harness import Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex

SCIPY, STATSMODELS = "SciPy lstsq", "statsmodels"


def dense(rows: int, columns: int, *, weighted: bool = False) -> Callable[[bool], Data]:
    """y = Xθ + noise, columns of different location and scale; the design has a column of ones."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 2000), min(columns, 20)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        X *= random.uniform(0.5, 2.0, d)
        X += random.uniform(-1.0, 1.0, d)
        y = X @ random.standard_normal(d) + 3.0 + random.standard_normal(n)
        weight = random.uniform(0.1, 2.0, n) if weighted else None
        return {"X": X, "y": y, "weight": weight, "design": np.column_stack([np.ones(n), X])}

    return build


def sparse(rows: int, columns: int, density: float) -> Callable[[bool], Data]:
    """The same with most entries of X zero, in compressed rows."""

    def build(quick: bool) -> Data:
        import scipy.sparse

        n, d = (2000, 50) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = scipy.sparse.random_array((n, d), density=density, format="csr", rng=random)
        y = X @ random.standard_normal(d) + 3.0 + 0.1 * random.standard_normal(n)
        return {"X": X, "y": y, "weight": None}

    return build


def fit(module: str, name: str, **parameters: Any) -> Contender:
    """Fit an estimator of the scikit-learn kind on X, y and the weights, where there are any."""

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            extra = {} if data["weight"] is None else {"sample_weight": data["weight"]}
            return lambda: estimator(**parameters).fit(data["X"], data["y"], **extra)

        return prepare

    return load


def scipy_lstsq() -> Callable[[Data], Call]:
    from scipy.linalg import lstsq

    def prepare(data: Data) -> Call:
        def call() -> tuple[Any, float]:
            theta = lstsq(data["design"], data["y"])[0]
            return theta[1:], theta[0]

        return call

    return prepare


def statsmodels_ols() -> Callable[[Data], Call]:
    from statsmodels.regression.linear_model import WLS

    def prepare(data: Data) -> Call:
        weight = 1.0 if data["weight"] is None else data["weight"]

        def call() -> tuple[Any, float]:
            theta = WLS(data["y"], data["design"], weights=weight).fit().params
            return theta[1:], theta[0]

        return call

    return prepare


def gram() -> Callable[[Data], Call]:
    """X.T @ X with BLAS as it comes."""
    return lambda data: lambda: data["X"].T @ data["X"]


def gram_on_one_thread() -> Callable[[Data], Call]:
    """X.T @ X on one thread, which wins where the threads of BLAS wait for one another."""
    from threadpoolctl import ThreadpoolController

    blas = ThreadpoolController()

    def prepare(data: Data) -> Call:
        def call() -> Any:
            with blas.limit(limits=1, user_api="blas"):
                return data["X"].T @ data["X"]

        return call

    return prepare


GRAM = (gram, gram_on_one_thread)


def predict_one(module: str, name: str) -> Contender:
    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            model, row = estimator().fit(data["X"], data["y"]), data["X"][:1]
            return lambda: (model, model.predict(row))

        return prepare

    return load


def product_of_one_row() -> Callable[[Data], Call]:
    def prepare(data: Data) -> Call:
        row, theta = data["X"][:1], np.ones(data["X"].shape[1])
        return lambda: row @ theta + 3.0

    return prepare


def theta_of(result: Any) -> tuple[Any, float]:
    """(coefficients, intercept) of a fitted model, or of the pair itself."""
    return result if isinstance(result, tuple) else (result.coef_, result.intercept_)


def mean_squared_residual(data: Data, result: Any) -> float:
    coef, intercept = theta_of(result)
    return float(
        np.average((data["y"] - data["X"] @ coef - intercept) ** 2, weights=data["weight"])
    )


def prediction_error(data: Data, result: Any) -> float:
    """Relative distance from Xθ computed here, rounded up to 1e-14: the order of sums is free."""
    model, prediction = result
    exact = data["X"][:1] @ model.coef_ + model.intercept_
    return max(1e-14, float(np.max(np.abs((prediction - exact) / exact))))


def rivals(name: str, *others: tuple[str, Contender], **parameters: Any) -> dict[str, Contender]:
    """The libraries that have the class under this name, then the others."""
    found = contenders(lambda module: fit(module, name, **parameters), "sklearn.linear_model", name)
    return found | dict(others)


CASES = (
    Case(
        "LinearRegression 200k×200",
        dense(200_000, 200),
        rivals("LinearRegression"),
        mean_squared_residual,
        "mean squared residual",
        GRAM,
        "X.T @ X",
        with_intelex("LinearRegression", Bar("limit", 1.6), Bar(SKLEARN, 1 / 6)),
    ),
    Case(
        "LinearRegression 200k×200 weighted",
        dense(200_000, 200, weighted=True),
        rivals("LinearRegression"),
        mean_squared_residual,
        "weighted mean squared residual",
        GRAM,
        "X.T @ X",
    ),
    Case(
        "LinearRegression 2M×10",
        dense(2_000_000, 10),
        rivals("LinearRegression"),
        mean_squared_residual,
        "mean squared residual",
        GRAM,
        "X.T @ X",
    ),
    Case(
        "LinearRegression 5k×1000",
        dense(5000, 1000),
        rivals("LinearRegression", (SCIPY, scipy_lstsq)),
        mean_squared_residual,
        "mean squared residual",
        GRAM,
        "X.T @ X",
    ),
    Case(
        "LinearRegression 20k×2000",
        dense(20_000, 2000),
        rivals("LinearRegression"),
        mean_squared_residual,
        "mean squared residual",
        GRAM,
        "X.T @ X",
    ),
    Case(
        "LinearRegression sparse 200k×500",
        sparse(200_000, 500, density=0.01),
        rivals("LinearRegression"),
        mean_squared_residual,
        "mean squared residual",
        (gram,),
        "X.T @ X, sparse",
    ),
    Case(
        "LinearRegression 100×5",
        dense(100, 5),
        rivals("LinearRegression", (SCIPY, scipy_lstsq), (STATSMODELS, statsmodels_ols)),
        mean_squared_residual,
        "mean squared residual",
    ),
    Case(
        "predict one row of 20",
        dense(1000, 20),
        contenders(
            lambda module: predict_one(module, "LinearRegression"),
            "sklearn.linear_model",
            "LinearRegression",
        ),
        prediction_error,
        "relative error of the prediction",
        (product_of_one_row,),
        "x @ θ + b",
        (Bar(SKLEARN, 1 / 3),),
    ),
)

STUDIES = (
    Study("Correct digits on certified problems", correct_digits),
    Study("Peak memory of a fit from a file", memory_against_rows),
)
