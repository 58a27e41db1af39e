"""AdaBoost: boosted stumps and boosted regression trees, fitted and asked, beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data

PEER = "sklearn.ensemble"
SEED = {"random_state": 0}


def shells(rows: int, columns: int, n_classes: int = 2) -> Callable[[bool], Data]:
    """Classes by the distance from the middle in ten columns, a tenth of the labels drawn anew."""

    def build(quick: bool) -> Data:
        n = 2000 if quick else rows
        random = np.random.default_rng(0)
        X = random.standard_normal((2 * n, columns))
        distance = (X[:, :10] ** 2).sum(axis=1)
        edges = np.quantile(distance, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(edges, distance)
        noisy = random.random(2 * n) < 0.1
        y[noisy] = random.integers(0, n_classes, noisy.sum())
        return {"X": X[:n], "y": y[:n], "weight": None, "X_new": X[n:], "y_new": y[n:]}

    return build


def waves(rows: int, columns: int) -> Callable[[bool], Data]:
    """Numbers that a few columns determine, by a wave, a product and a line."""

    def build(quick: bool) -> Data:
        n = 2000 if quick else rows
        random = np.random.default_rng(0)
        X = random.random((2 * n, columns))
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
        y += 10 * X[:, 3] + 5 * X[:, 4] + random.standard_normal(2 * n)
        return {"X": X[:n], "y": y[:n], "weight": None, "X_new": X[n:], "y_new": y[n:]}

    return build


def ask(module: str, name: str, **parameters: Any) -> Contender:
    """Predict new rows with a model fitted before."""

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            model = estimator(**parameters).fit(data["X"], data["y"])
            return lambda: model.predict(data["X_new"])

        return prepare

    return load


def error_of_model(data: Data, model: Any) -> float:
    """Share of new rows labelled wrong."""
    return float(np.mean(model.predict(data["X_new"]) != data["y_new"]))


def error_of_labels(data: Data, labels: Any) -> float:
    return float(np.mean(labels != data["y_new"]))


def deviation_of_model(data: Data, model: Any) -> float:
    """Root of the mean squared error on new rows."""
    return deviation_of_answers(data, model.predict(data["X_new"]))


def deviation_of_answers(data: Data, answers: Any) -> float:
    return float(np.sqrt(np.mean((answers - data["y_new"]) ** 2)))


CASES = (
    Case(
        "AdaBoostClassifier 100k×30, 50 stumps",
        shells(100_000, 30),
        {
            OURS: fit("thetahat", "AdaBoostClassifier"),
            SKLEARN: fit(PEER, "AdaBoostClassifier", **SEED),
        },
        error_of_model,
        "error on new rows",
        bars=(Bar(SKLEARN, 1 / 20),),
        slack=0.01,
    ),
    Case(
        "AdaBoostClassifier 50k×30, 5 classes",
        shells(50_000, 30, n_classes=5),
        {
            OURS: fit("thetahat", "AdaBoostClassifier"),
            SKLEARN: fit(PEER, "AdaBoostClassifier", **SEED),
        },
        error_of_model,
        "error on new rows",
        slack=0.01,
    ),
    Case(
        "AdaBoostClassifier.predict 100k×30, 50 stumps",
        shells(100_000, 30),
        {
            OURS: ask("thetahat", "AdaBoostClassifier"),
            SKLEARN: ask(PEER, "AdaBoostClassifier", **SEED),
        },
        error_of_labels,
        "error on new rows",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=0.01,
    ),
    Case(
        "AdaBoostRegressor 50k×10, 50 trees",
        waves(50_000, 10),
        {
            OURS: fit("thetahat", "AdaBoostRegressor", **SEED),
            SKLEARN: fit(PEER, "AdaBoostRegressor", **SEED),
        },
        deviation_of_model,
        "deviation on new rows",
        slack=0.05,
    ),
    Case(
        "AdaBoostRegressor.predict 50k×10, 50 trees",
        waves(50_000, 10),
        {
            OURS: ask("thetahat", "AdaBoostRegressor", **SEED),
            SKLEARN: ask(PEER, "AdaBoostRegressor", **SEED),
        },
        deviation_of_answers,
        "deviation on new rows",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=0.05,
    ),
)

STUDIES = ()
