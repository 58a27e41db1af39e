"""Greedy and exhaustive selection, sparse codes and dictionaries, beside scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import GRAM, SKLEARN, fit, mean_squared_residual, rivals
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

ATOMS, ROUNDS = 32, 3
"""scikit-learn needs some five seconds per round."""


def sparse_signal(rows: int, columns: int, nonzeros: int) -> Callable[[bool], Data]:
    """y = Xβ + noise with few non-zero β."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 300), min(columns, 100)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        beta = np.zeros(d)
        beta[random.choice(d, min(nonzeros, d), replace=False)] = 1.0
        return {"X": X, "y": X @ beta + 0.5 * random.standard_normal(n), "weight": None}

    return build


def many_targets(quick: bool) -> Data:
    """Signals to code over a dictionary of unit atoms, given by Gram matrix and products."""
    random = np.random.default_rng(0)
    atoms = random.standard_normal((100, 256))
    atoms /= np.linalg.norm(atoms, axis=0)
    y = random.standard_normal((100, 200 if quick else 5000))
    return {"gram": atoms.T @ atoms, "products": atoms.T @ y, "squares": (y**2).sum(axis=0)}


def digits(quick: bool) -> Data:
    from sklearn.datasets import load_digits

    X = load_digits().data
    return {"X": (X - X.mean(axis=0))[: 200 if quick else None]}


def correlated(rows: int, columns: int) -> Callable[[bool], Data]:
    """Columns that share a factor, a third of which matter."""

    def build(quick: bool) -> Data:
        d = min(columns, 12) if quick else columns
        random = np.random.default_rng(0)
        X = random.standard_normal((rows, d)) + 0.7 * random.standard_normal((rows, 1))
        beta = random.standard_normal(d) * (random.random(d) < 0.3)
        y = X @ beta + 3.0 * random.standard_normal(rows)
        return {"X": X, "y": y, "weight": None}

    return build


def pursue(module: str) -> Contender:
    def load() -> Callable[[Data], Call]:
        function = import_module(module).orthogonal_mp_gram
        return lambda data: lambda: function(data["gram"], data["products"], n_nonzero_coefs=10)

    return load


def coding_error(data: Data, coef: Any) -> float:
    """Mean ‖y − Xβ‖² over the targets."""
    explained = 2 * (coef * data["products"]).sum(axis=0)
    squares = np.einsum("ij,ij->j", coef, data["gram"] @ coef)
    return float((data["squares"] - explained + squares).mean())


def learn(module: str, **parameters: Any) -> Contender:
    """Some rounds of dictionary learning; that they do not suffice is no news here."""

    def load() -> Callable[[Data], Call]:
        estimator = import_module(module).DictionaryLearning

        def prepare(data: Data) -> Call:
            def call() -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return estimator(ATOMS, alpha=1, max_iter=ROUNDS, **parameters).fit(data["X"])

            return call

        return prepare

    return load


def dictionary_objective(data: Data, model: Any) -> float:
    """½‖X − UD‖² + ‖U‖₁ with the best codes for the atoms learned."""
    import thetahat

    D, X = np.asarray(model.components_), data["X"]
    coder = thetahat.DictionaryLearning(
        len(D), max_iter=0, dict_init=D, code_init=np.zeros((len(X), len(D))),
        transform_algorithm="lasso_cd",
    ).fit(X)  # fmt: skip
    codes = coder.transform(X)
    return float(0.5 * ((X - codes @ D) ** 2).sum() + np.abs(codes).sum())


CASES = (
    Case(
        "batch OMP, 5000 targets, 256 atoms, 10 each",
        many_targets,
        {OURS: pursue("thetahat"), SKLEARN: pursue("sklearn.linear_model")},
        coding_error,
        "mean squared residual",
        bars=(Bar(SKLEARN, 1 / 5),),
    ),
    Case(
        "OrthogonalMatchingPursuit 50k×300, 30 columns",
        sparse_signal(50_000, 300, 30),
        rivals("OrthogonalMatchingPursuit", n_nonzero_coefs=30),
        mean_squared_residual,
        "mean squared residual",
        GRAM,
        "X.T @ X",
        (Bar(SKLEARN, 1.0),),
    ),
    Case(
        "OrthogonalMatchingPursuit 500×5000, 20 columns",
        sparse_signal(500, 5000, 20),
        rivals("OrthogonalMatchingPursuit", n_nonzero_coefs=20),
        mean_squared_residual,
        "mean squared residual",
        bars=(Bar(SKLEARN, 1.0),),
    ),
    Case(
        "OrthogonalMatchingPursuitCV 5000×200, 40 columns",
        sparse_signal(5000, 200, 20),
        rivals("OrthogonalMatchingPursuitCV", max_iter=40),
        mean_squared_residual,
        "mean squared residual",
        bars=(Bar(SKLEARN, 1.0),),
        # The number of columns is chosen alike; the refit is the same least squares.
        slack=1e-6,
    ),
    Case(
        "LassoLars 5000×100, alpha 0.02",
        sparse_signal(5000, 100, 20),
        rivals("LassoLars", alpha=0.02),
        mean_squared_residual,
        "mean squared residual",
        bars=(Bar(SKLEARN, 1.0),),
        # Both reach the exact minimum, whose residual this is.
        slack=1e-6,
    ),
    Case(
        "Lars 200×2000, 50 columns",
        sparse_signal(200, 2000, 10),
        rivals("Lars", n_nonzero_coefs=50),
        mean_squared_residual,
        "mean squared residual",
        bars=(Bar(SKLEARN, 1.0),),
        # The peer's path is another one after a coefficient has changed its sign.
        slack=0.05,
    ),
    Case(
        f"DictionaryLearning 1797×64, {ATOMS} atoms, {ROUNDS} rounds",
        digits,
        {
            OURS: learn("thetahat"),
            SKLEARN: learn("sklearn.decomposition"),
            f"{SKLEARN} cd": learn("sklearn.decomposition", fit_algorithm="cd"),
        },
        dictionary_objective,
        "½‖X − UD‖² + ‖U‖₁",
        bars=(Bar(SKLEARN, 1 / 10),),
    ),
    Case(
        "BestSubset 500×40",
        correlated(500, 40),
        {OURS: fit("thetahat", "BestSubset")},
        mean_squared_residual,
        "mean squared residual",
    ),
)

STUDIES: tuple[Study, ...] = ()
