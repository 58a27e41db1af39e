"""Forests: fits, predictions and the memory of the trees, beside scikit-learn's."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Finding, Judged, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex

HELD_OUT = 20_000


def rows(n: int, d: int, classes: int) -> Callable[[bool], Data]:
    """Targets of a few columns with interactions and noise; the last rows are held out."""

    def build(quick: bool) -> Data:
        m = (1000 if quick else n) + (500 if quick else HELD_OUT)
        random = np.random.default_rng(0)
        X = random.standard_normal((m, d))
        X[:, 1::3] = np.round(2 * X[:, 1::3]) / 2  # some columns have few values
        y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + np.abs(X[:, 3]) + X[:, -1] * X[:, -2]
        y += 0.5 * random.standard_normal(m)
        if classes:
            y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
        cut = m - (500 if quick else HELD_OUT)
        return {"X": X[:cut], "y": y[:cut], "X_new": X[cut:], "y_new": y[cut:]}

    return build


ENSEMBLE = "sklearn.ensemble"


def made(module: str, name: str, **parameters: Any) -> Any:
    options = {"random_state": 0, "n_jobs": -1, **parameters}
    return getattr(import_module(module), name)(**options)


def fits(name: str, **parameters: Any) -> dict[str, Contender]:
    """The fit of a new forest."""

    def contender(module: str) -> Contender:
        def load() -> Callable[[Data], Call]:
            made(module, name)
            return lambda data: lambda: made(module, name, **parameters).fit(data["X"], data["y"])

        return load

    return contenders(contender, ENSEMBLE, name)


def predictions(name: str, **parameters: Any) -> dict[str, Contender]:
    """What a fitted forest says of the rows held out."""

    def contender(module: str) -> Contender:
        def load() -> Callable[[Data], Call]:
            def prepare(data: Data) -> Call:
                model = made(module, name, **parameters).fit(data["X"], data["y"])
                return lambda: model.predict(data["X_new"])

            return prepare

        return load

    return contenders(contender, ENSEMBLE, name)


def error(data: Data, result: Any) -> float:
    """On rows held out: the share of wrong classes, or the root mean square."""
    told = result.predict(data["X_new"]) if hasattr(result, "predict") else result
    y = data["y_new"]
    return float(np.mean(told != y) if y.dtype.kind == "i" else np.mean((told - y) ** 2) ** 0.5)


SLACK = 0.03
"""Forests of other random numbers differ by this share of their error."""


def race(
    title: str, n: int, d: int, name: str, classes: int, bar: float, **parameters: Any
) -> Case:
    return Case(
        title,
        rows(n, d, classes),
        fits(name, **parameters),
        error,
        "error on rows held out",
        bars=with_intelex(name, Bar(SKLEARN, 1 / bar)),
        slack=SLACK,
    )


CASES = (
    race(
        "RandomForestClassifier 20 trees, 100k×30",
        100_000,
        30,
        "RandomForestClassifier",
        2,
        5,
        n_estimators=20,
    ),
    race(
        "ExtraTreesClassifier 20 trees, 100k×30",
        100_000,
        30,
        "ExtraTreesClassifier",
        2,
        2,
        n_estimators=20,
    ),
    race(
        "RandomForestClassifier 40 trees, 80k×25",
        80_000,
        25,
        "RandomForestClassifier",
        2,
        5,
        n_estimators=40,
    ),
    race(
        "RandomForestRegressor 10 trees, 100k×30, a third of the columns",
        100_000,
        30,
        "RandomForestRegressor",
        0,
        5,
        n_estimators=10,
        max_features=1 / 3,
    ),
    race(
        "ExtraTreesRegressor 10 trees, 100k×30",
        100_000,
        30,
        "ExtraTreesRegressor",
        0,
        2,
        n_estimators=10,
    ),
    race(
        "RandomForestClassifier 20 trees, 20k×30, 7 classes",
        20_000,
        30,
        "RandomForestClassifier",
        7,
        2,
        n_estimators=20,
    ),
    race(
        "RandomForestClassifier 100 trees, 150×4",
        150,
        4,
        "RandomForestClassifier",
        3,
        2,
        n_estimators=100,
    ),
    Case(
        "predict 20k rows, RandomForestClassifier 20 trees, 100k×30",
        rows(100_000, 30, 2),
        predictions("RandomForestClassifier", n_estimators=20),
        error,
        "error on rows held out",
        bars=(Bar(SKLEARN, 1 / 2),),
        slack=SLACK,
    ),
)


def memory(quick: bool, say: Callable[[str], None]) -> Finding:
    """Bytes of the fitted trees, as saved."""
    found, bars = [], list[Judged]()
    for name in ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier"):
        say(f"memory of {name}")
        data = rows(20_000, 30, 2 if "Classifier" in name else 0)(quick)
        sizes = {
            library: len(
                pickle.dumps(made(module, name, n_estimators=10).fit(data["X"], data["y"]))
            )
            for library, module in ((OURS, "thetahat"), (SKLEARN, ENSEMBLE))
        }
        ratio = sizes[OURS] / sizes[SKLEARN]
        found.append({"forest": name, **sizes, "ratio": ratio})
        bars.append((f"{name}: at most half the bytes of scikit-learn", ratio, ratio <= 0.5))
    show = {OURS: _megabytes, SKLEARN: _megabytes, "ratio": "{:.2f}".format}
    return Finding(found, show, bars)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


STUDIES = (Study("Bytes of a fitted forest", memory),)
