"""Single trees with exact splits: growing and prediction, beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data

NOISE = 0.02
"""Splits that tie may be broken either way, and held-out errors of full trees differ by that."""


def crossed_columns(labels: bool) -> Callable[[bool], Data]:
    """100k×30: a product, a wave and a sum of columns, with noise; as many rows are held out."""

    def build(quick: bool) -> Data:
        n = 2000 if quick else 100_000
        random = np.random.default_rng(0)
        X = random.standard_normal((2 * n, 30))
        y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 3:8].sum(axis=1)
        y += random.standard_normal(2 * n)
        if labels:
            y = (y > 0).astype(int)
        # Ties go to the first column; which columns matter must not be told by their place.
        X = np.ascontiguousarray(X[:, random.permutation(30)])
        new_X, new_y = X[n:], y[n:]
        return {"X": X[:n], "y": y[:n], "weight": None, "new_X": new_X, "new_y": new_y}

    return build


def held_out_error(data: Data, result: Any) -> float:
    """Share of wrong labels, or mean squared error, on rows that were not learned from."""
    answers = result if isinstance(result, np.ndarray) else result.predict(data["new_X"])
    if data["new_y"].dtype.kind == "i":
        return float(np.mean(answers != data["new_y"]))
    return float(np.mean((answers - data["new_y"]) ** 2))


def predict(module: str, name: str, **parameters: Any) -> Contender:
    """Prediction of the held-out rows, by a tree grown beforehand."""
    grow = fit(module, name, **parameters)

    def load() -> Callable[[Data], Call]:
        prepare_growth = grow()

        def prepare(data: Data) -> Call:
            model = prepare_growth(data)()
            return lambda: model.predict(data["new_X"])

        return prepare

    return load


def contenders(task: Callable[..., Contender], name: str) -> dict[str, Contender]:
    return {
        OURS: task("thetahat", name, random_state=0),
        SKLEARN: task("sklearn.tree", name, random_state=0),
    }


def race(verb: str, task: Callable[..., Contender], name: str, bars: tuple[Bar, ...]) -> Case:
    labels = name.endswith("Classifier")
    return Case(
        f"{name} 100k×30, {verb}",
        crossed_columns(labels),
        contenders(task, name),
        held_out_error,
        "held-out error",
        bars=bars,
        slack=0.1 if name.startswith("Extra") else NOISE,
    )


CASES = (
    race("fit", fit, "DecisionTreeClassifier", (Bar(SKLEARN, 1 / 2),)),
    race("fit", fit, "DecisionTreeRegressor", (Bar(SKLEARN, 1 / 2),)),
    race("fit", fit, "ExtraTreeClassifier", (Bar(SKLEARN, 1),)),
    race("fit", fit, "ExtraTreeRegressor", (Bar(SKLEARN, 1),)),
    race("predict", predict, "DecisionTreeClassifier", (Bar(SKLEARN, 1 / 2),)),
    race("predict", predict, "DecisionTreeRegressor", (Bar(SKLEARN, 1 / 2),)),
)

STUDIES = ()
