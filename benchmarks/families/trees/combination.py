"""Combinations of models: bagged trees, and what voting and stacking cost beside their members."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data

TREES = 50
NOISE = 0.05
"""Relative difference of held-out errors that the draws alone may make."""


def waves(rows: int, columns: int, *, labels: bool = False) -> Callable[[bool], Data]:
    """A sum of waves and products of columns, and noise; a quarter of the rows is held out."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 1500), min(columns, 8)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n + n // 4, d))
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
        y += 0.3 * random.standard_normal(len(y))
        # Ties between columns go to the first, which must not be the one that matters.
        X = np.ascontiguousarray(X[:, np.r_[4:d, :4]])
        target = (y > np.median(y)).astype(int) if labels else y
        return {
            "X": X[:n],
            "y": target[:n],
            "weight": None,
            "X_new": X[n:],
            "y_new": target[n:],
        }

    return build


def held_out(data: Data, model: Any) -> float:
    """Mean squared error on new rows, or the share of them that is mistaken."""
    if hasattr(model, "classes_"):
        return float(np.mean(model.predict(data["X_new"]) != data["y_new"]))
    return float(np.mean((model.predict(data["X_new"]) - data["y_new"]) ** 2))


def prediction_error(data: Data, predicted: Any) -> float:
    return float(np.mean((predicted - data["y_new"]) ** 2))


def predict(module: str, name: str, **parameters: Any) -> Contender:
    """Predict new rows with a model that is fitted beforehand."""

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            model = estimator(**parameters).fit(data["X"], data["y"])
            return lambda: model.predict(data["X_new"])

        return prepare

    return load


def members() -> list[tuple[str, Any]]:
    import thetahat as th

    return [
        ("plain", th.LinearRegression()),
        ("shrunk", th.Ridge(alpha=10.0)),
        ("tree", th.DecisionTreeRegressor(max_depth=8, random_state=0)),
    ]


def of_members(module: str, name: str, **parameters: Any) -> Contender:
    """Fit a combination of thetahat's own members, whoever combines them."""

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)
        return lambda data: lambda: estimator(members(), **parameters).fit(data["X"], data["y"])

    return load


def members_alone() -> Callable[[Data], Call]:
    return lambda data: lambda: [model.fit(data["X"], data["y"]) for _, model in members()]


ENSEMBLE = "sklearn.ensemble"
BAG = {"n_estimators": TREES, "random_state": 0}

CASES = (
    Case(
        f"BaggingRegressor {TREES} trees 20k×20",
        waves(20_000, 20),
        {
            OURS: fit("thetahat", "BaggingRegressor", **BAG),
            SKLEARN: fit(ENSEMBLE, "BaggingRegressor", n_jobs=-1, **BAG),
        },
        held_out,
        "mean squared error, new rows",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=NOISE,
    ),
    Case(
        f"BaggingClassifier {TREES} trees 20k×20",
        waves(20_000, 20, labels=True),
        {
            OURS: fit("thetahat", "BaggingClassifier", **BAG),
            SKLEARN: fit(ENSEMBLE, "BaggingClassifier", n_jobs=-1, **BAG),
        },
        held_out,
        "error rate, new rows",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=NOISE,
    ),
    Case(
        f"BaggingRegressor predict, {TREES} trees, 5k rows",
        waves(20_000, 20),
        {
            OURS: predict("thetahat", "BaggingRegressor", **BAG),
            SKLEARN: predict(ENSEMBLE, "BaggingRegressor", n_jobs=-1, **BAG),
        },
        prediction_error,
        "mean squared error, new rows",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=NOISE,
    ),
    Case(
        "VotingRegressor of three, 20k×20",
        waves(20_000, 20),
        {
            OURS: of_members("thetahat", "VotingRegressor"),
            SKLEARN: of_members(ENSEMBLE, "VotingRegressor"),
        },
        held_out,
        "mean squared error, new rows",
        limits=(members_alone,),
        limit_name="the members one by one",
        bars=(Bar("limit", 1.2),),
    ),
    Case(
        "StackingRegressor of three, 20k×20",
        waves(20_000, 20),
        {
            OURS: of_members("thetahat", "StackingRegressor"),
            SKLEARN: of_members(ENSEMBLE, "StackingRegressor"),
        },
        held_out,
        "mean squared error, new rows",
        bars=(Bar(SKLEARN, 1.0),),
        slack=NOISE,
    ),
)

STUDIES = ()
