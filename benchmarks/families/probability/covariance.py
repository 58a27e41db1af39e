"""Covariances: maximum likelihood, shrinkage, and the robust minimum covariance determinant.

A call fits a model. Quality is the mean surprise −log p(x) of new rows, or the log-determinant of
the rows that the robust search found.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn"


def correlated(rows: int, columns: int, outliers: float = 0.0) -> Callable[[bool], Data]:
    """Gaussian rows with correlated columns, of which a share is moved away."""

    def build(quick: bool) -> Data:
        n, new = (min(rows, 1000), 200) if quick else (rows, 1000)
        random = np.random.default_rng(0)
        mix = np.eye(columns) + 0.5 * random.standard_normal((columns, columns)) / columns**0.5
        X = random.standard_normal((n + new, columns)) @ mix + random.standard_normal(columns)
        moved = int(outliers * n)
        X[:moved] += 10.0 * (random.integers(2, size=(moved, columns)) - 0.5)
        return {"X": X[:n], "new": X[n:]}

    return build


def fit(module: str, name: str, **parameters: Any) -> Contender:
    """Fit a covariance."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)
        return lambda data: lambda: model(**parameters).fit(data["X"])

    return load


def both(name: str, **parameters: Any) -> dict[str, Contender]:
    """The class here, and scikit-learn's of the same name."""
    return {
        OURS: fit("thetahat", name, **parameters),
        PEER: fit("sklearn.covariance", name, **parameters),
    }


def surprise(data: Data, model: Any) -> float:
    return -float(model.score(data["new"]))


def log_determinant(data: Data, model: Any) -> float:
    return float(np.linalg.slogdet(model.raw_covariance_)[1])


def race(name: str, rows: int, columns: int, size: str) -> Case:
    return Case(
        f"{name} {size}",
        correlated(rows, columns),
        both(name),
        surprise,
        "mean −log p of new rows",
        bars=(Bar(PEER, 1.0),),
    )


CASES = (
    *(
        race(name, rows, columns, size)
        for name in ("EmpiricalCovariance", "LedoitWolf", "OAS")
        for rows, columns, size in ((150, 4, "150×4"), (200_000, 100, "200k×100"))
    ),
    race("LedoitWolf", 300, 1000, "300×1000"),
    Case(
        "MinCovDet 20k×20, 20% outliers",
        correlated(20_000, 20, 0.2),
        both("MinCovDet", random_state=0),
        log_determinant,
        "log-determinant of the raw covariance",
        bars=(Bar(PEER, 0.5),),
        slack=1e-5,
    ),
    Case(
        "MinCovDet 150×4",
        correlated(150, 4),
        both("MinCovDet", random_state=0),
        log_determinant,
        "log-determinant of the raw covariance",
        bars=(Bar(PEER, 1.0),),
    ),
)

STUDIES: tuple[Study, ...] = ()
