"""Partial least squares and canonical correlations: tall, wide and small tables.

Quality is the mean squared error of the training rows, or one less the first correlation.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn PLSRegression"
CANONICAL = "scikit-learn CCA"


def correlated(rows: int, columns: int, targets: int) -> Callable[[bool], Data]:
    """Columns with a few common factors, and targets that depend on ten of them."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 300), min(columns, 60)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, 5)) @ random.standard_normal((5, d))
        X += random.standard_normal((n, d))
        used = min(d, 10)
        y = X[:, :used] @ random.standard_normal((used, targets))
        y += random.standard_normal((n, targets))
        return {"X": X, "y": y if targets > 1 else y[:, 0]}

    return build


def fit(module: str, k: int, name: str = "PLSRegression") -> Contender:
    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            return lambda: model(k).fit(data["X"], data["y"])

        return prepare

    return load


def error(data: Data, model: Any) -> float:
    return float(np.mean((model.predict(data["X"]) - data["y"]) ** 2))


def case(rows: int, columns: int, targets: int, k: int, most: float = 1 / 5) -> Case:
    many = "1 target" if targets == 1 else f"{targets} targets"
    return Case(
        f"PLSRegression {rows}×{columns}, {many}, k={k}",
        correlated(rows, columns, targets),
        {OURS: fit("thetahat", k), PEER: fit("sklearn.cross_decomposition", k)},
        error,
        "mean squared error of the training rows",
        bars=(Bar(PEER, most),),
        slack=1e-3,
    )


def unrelated(data: Data, model: Any) -> float:
    """One less the correlation of the first pair of scores."""
    T, U = model.transform(data["X"], data["y"])
    return 1.0 - float(np.corrcoef(T[:, 0], U[:, 0])[0, 1])


def canonical(rows: int, columns: int, targets: int, k: int, most: float) -> Case:
    return Case(
        f"CCA {rows}×{columns}, {targets} targets, k={k}",
        correlated(rows, columns, targets),
        {OURS: fit("thetahat", k, "CCA"), CANONICAL: fit("sklearn.cross_decomposition", k, "CCA")},
        unrelated,
        "1 − correlation of the first pair",
        bars=(Bar(CANONICAL, most),),
        slack=1e-2,
    )


CASES = (
    case(100_000, 50, 1, 5),
    case(100_000, 50, 5, 10),
    case(20_000, 300, 1, 10),
    case(200, 5000, 1, 10),
    case(200, 5000, 3, 10),
    case(150, 4, 1, 2, most=1.0),
    canonical(2000, 50, 10, 2, 1 / 5),
    canonical(150, 4, 3, 2, 1.0),
)

STUDIES: tuple[Study, ...] = ()
