"""Gradient boosting on histograms, beside LightGBM, XGBoost and scikit-learn's.

100 trees of 31 leaves with the same learning rate; quality is the loss of rows held out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Finding, Judged, Study
from benchmarks.real_tables import tables_of_many_classes

LIGHTGBM, XGBOOST = "LightGBM", "XGBoost"
ROUNDS, LEAVES = 100, 31
MOST_MICROSECONDS = 30.0
NEAR = 0.02
"""Share of the held-out loss by which two boosted models differ by chance."""


def table(rows: int, kind: str, classes: int = 2) -> Callable[[bool], Data]:
    """30 columns: waves, products and steps of ten of them matter, and noise."""

    def build(quick: bool) -> Data:
        n = 2000 if quick else rows
        random = np.random.default_rng(0)
        X = random.standard_normal((n + max(n // 5, 500), 30))
        X[:, 10:15] = np.round(X[:, 10:15] * 4) / 4
        weights = random.standard_normal((6, max(classes, 1)))
        parts = np.column_stack(
            [
                np.sin(2 * X[:, 0]),
                X[:, 1] * X[:, 2],
                np.abs(X[:, 3]),
                X[:, 4] > 0.5,
                X[:, 10] * (X[:, 5] > 0),
                X[:, 11] - X[:, 6],
            ]
        )
        if kind == "number":
            y = parts.sum(axis=1) + random.standard_normal(len(X))
        elif classes == 2:
            y = (random.random(len(X)) < 1 / (1 + np.exp(-1.5 * parts.sum(axis=1)))).astype(int)
        else:
            scores = 2 * parts @ weights + random.gumbel(size=(len(X), classes))
            y = scores.argmax(axis=1)
        return {
            "X": X[:n],
            "y": y[:n],
            "weight": None,
            "X_test": X[n:],
            "y_test": y[n:],
        }

    return build


def parameters(library: str) -> dict[str, Any]:
    shared = {"learning_rate": 0.1}
    if library == LIGHTGBM:
        return shared | {"n_estimators": ROUNDS, "num_leaves": LEAVES, "verbose": -1}
    if library == XGBOOST:
        return shared | {
            "n_estimators": ROUNDS,
            "max_leaves": LEAVES,
            "max_depth": 0,
            "grow_policy": "lossguide",
            "tree_method": "hist",
        }
    return shared | {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "early_stopping": False}


PLACES = {
    OURS: ("thetahat", "HistGradientBoosting{}"),
    LIGHTGBM: ("lightgbm", "LGBM{}"),
    XGBOOST: ("xgboost", "XGB{}"),
    SKLEARN: ("sklearn.ensemble", "HistGradientBoosting{}"),
}


def fitted_by(library: str, task: str) -> Contender:
    module, name = PLACES[library]
    return fit(module, name.format(task), **parameters(library))


def predicted_by(library: str, task: str, rows: int | None = None) -> Contender:
    """Predictions for the held-out rows (or the first of them), by a model fitted before."""
    module, name = PLACES[library]

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name.format(task))

        def prepare(data: Data) -> Call:
            model = estimator(**parameters(library)).fit(data["X"], data["y"])
            asked = data["X_test"][:rows].copy()
            return lambda: model.predict_proba(asked)

        return prepare

    return load


def log_loss(data: Data, model: Any) -> float:
    return log_loss_of(data, model.predict_proba(data["X_test"]))


def log_loss_of(data: Data, shares: Any) -> float:
    right = shares[np.arange(len(shares)), data["y_test"][: len(shares)]]
    return float(-np.mean(np.log(np.maximum(right, 1e-15))))


def root_mean_square(data: Data, model: Any) -> float:
    return float(np.sqrt(np.mean((model.predict(data["X_test"]) - data["y_test"]) ** 2)))


def race(name: str, data: Callable[[bool], Data], task: str, **options: Any) -> Case:
    judged = root_mean_square if task == "Regressor" else log_loss
    return Case(
        name,
        data,
        {library: fitted_by(library, task) for library in PLACES},
        judged,
        "held-out RMSE" if task == "Regressor" else "held-out log loss",
        bars=(Bar(LIGHTGBM, 1.0), Bar(XGBOOST, 1 / 1.2), Bar(SKLEARN, 1 / 1.2)),
        slack=NEAR,
        **options,
    )


def cost_of_losses(quick: bool, say: Callable[[str], None]) -> Finding:
    """Seconds by loss, relative to the squared loss, on the same rows."""
    from thetahat import HistGradientBoostingRegressor

    data = table(100_000, "number")(quick)
    chosen = {
        "squared": {"loss": "squared_error"},
        "absolute": {"loss": "absolute_error"},
        "quantile": {"loss": "quantile", "quantile": 0.9},
        "Huber": {"loss": "huber"},
    }
    best = dict.fromkeys(chosen, np.inf)
    for _ in range(1 if quick else 3):
        for name, options in chosen.items():
            say(f"cost of losses: {name}")
            start = time.perf_counter()
            HistGradientBoostingRegressor(early_stopping=False, **options).fit(data["X"], data["y"])
            best[name] = min(best[name], time.perf_counter() - start)
    rows = [
        {"loss": name, "seconds": seconds, "× squared": seconds / best["squared"]}
        for name, seconds in best.items()
    ]
    return Finding(rows, {"seconds": "{:.3f}".format, "× squared": "{:.2f}".format}, [])


def one_row(quick: bool, say: Callable[[str], None]) -> Finding:
    """Microseconds of a prediction for one row, Python's overhead included."""
    data = table(20_000, "class")(quick)
    rows = []
    for library in PLACES:
        if find_spec(PLACES[library][0]) is None:
            continue
        say(f"one row: {library}")
        call = predicted_by(library, "Classifier", rows=1)()(data)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(200):
                call()
            times.append((time.perf_counter() - start) / 200)
        rows.append({"library": library, "microseconds": 1e6 * min(times)})
    ours = next(row["microseconds"] for row in rows if row["library"] == OURS)
    bars: list[Judged] = [
        (f"one row at most {MOST_MICROSECONDS:g} µs", ours, ours <= MOST_MICROSECONDS)
    ]
    return Finding(rows, {"microseconds": "{:.1f}".format}, bars)


def many_classes(quick: bool, say: Callable[[str], None]) -> Finding:
    """Log loss by 5-fold cross-validation with the default parameters, three and more classes."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    rows: list[dict[str, Any]] = []
    for data in tables_of_many_classes(quick):
        row: dict[str, Any] = {"table": data.name, "classes": len(np.unique(data.y))}
        X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
        for library in (OURS, SKLEARN, LIGHTGBM):
            module, name = PLACES[library]
            if find_spec(module) is None:
                continue
            say(f"many classes: {data.name}, {library}")
            model = getattr(import_module(module), name.format("Classifier"))
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            scores = cross_val_score(
                model(**parameters(library)), X, y, cv=folds, scoring="neg_log_loss"
            )
            row[library] = -float(scores.mean())
        rows.append(row)
    bars: list[Judged] = []
    for peer in (SKLEARN, LIGHTGBM):
        ratios = [row[OURS] / row[peer] for row in rows if peer in row]
        if ratios:
            mean = float(np.exp(np.mean(np.log(ratios))))
            text = f"log loss at most {1 + NEAR:g} times that of {peer}, geometric mean"
            bars.append((text, mean, mean <= 1 + NEAR))
    return Finding(rows, dict.fromkeys((OURS, SKLEARN, LIGHTGBM), "{:.4f}".format), bars)


CASES = (
    race("boosting 100k×30, two classes", table(100_000, "class"), "Classifier"),
    race("boosting 100k×30, numbers", table(100_000, "number"), "Regressor"),
    race("boosting 1M×30, two classes", table(1_000_000, "class"), "Classifier"),
    race("boosting 50k×30, five classes", table(50_000, "class", 5), "Classifier"),
    Case(
        "boosting 100k×30, predict 20k rows",
        table(100_000, "class"),
        {library: predicted_by(library, "Classifier") for library in PLACES},
        log_loss_of,
        "held-out log loss",
        bars=(Bar(LIGHTGBM, 1 / 2), Bar(SKLEARN, 1 / 2)),
        slack=NEAR,
    ),
)

STUDIES = (
    Study("Cost of losses, 100k×30", cost_of_losses),
    Study("One row, 100 trees", one_row),
    Study("Log loss of three and more classes", many_classes),
)
