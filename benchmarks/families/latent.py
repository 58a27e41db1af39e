"""Partial least squares: tall, wide and small tables, one target and several.

Quality is the mean squared error of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn PLSRegression"


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


def fit(module: str, k: int) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = import_module(module).PLSRegression

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


CASES = (
    case(100_000, 50, 1, 5),
    case(100_000, 50, 5, 10),
    case(20_000, 300, 1, 10),
    case(200, 5000, 1, 10),
    case(200, 5000, 3, 10),
    case(150, 4, 1, 2, most=1.0),
)

STUDIES: tuple[Study, ...] = ()
