"""Discriminants and nearest centroids: fit and predict, beside scikit-learn's.

Quality is the share of wrong labels on the rows of the fit; the models are the same, so that it
must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Call, Case, Contender, Data, Study

THEIRS = "scikit-learn"


def classes_of(rows: int, columns: int, classes: int) -> Callable[[bool], Data]:
    """Gaussian classes with correlated columns."""

    def build(quick: bool) -> Data:
        n = max(20 * classes, rows // 100) if quick else rows
        d = min(columns, 10) if quick else columns
        random = np.random.default_rng(0)
        y = np.arange(n) % classes
        random.shuffle(y)
        mix = 0.3 * random.standard_normal((d, d)) / np.sqrt(d) + np.eye(d)
        means = 0.3 * random.standard_normal((classes, d))
        return {"X": means[y] + random.standard_normal((n, d)) @ mix, "y": y}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return {"X": X, "y": y}


def classify(module: str, name: str, **parameters: Any) -> Contender:
    """Fit a classifier and predict the labels of its rows."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            X, y = data["X"], data["y"]
            return lambda: model(**parameters).fit(X, y).predict(X)

        return prepare

    return load


def both(name: str, module: str, **parameters: Any) -> dict[str, Contender]:
    return {
        OURS: classify("thetahat", name, **parameters),
        THEIRS: classify(module, name, **parameters),
    }


def errors(data: Data, labels: Any) -> float:
    return float(np.mean(labels != data["y"]))


MODELS = {
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "NearestCentroid": "sklearn.neighbors",
}
SIZES: dict[str, Callable[[bool], Data]] = {
    "200k×200, 5 classes": classes_of(200_000, 200, 5),
    "20k×50, 100 classes": classes_of(20_000, 50, 100),
    "iris 150×4": iris,
}

CASES = tuple(
    Case(f"{name} {size}", data, both(name, module), errors, "share of wrong labels")
    for name, module in MODELS.items()
    for size, data in SIZES.items()
)

STUDIES: tuple[Study, ...] = ()
