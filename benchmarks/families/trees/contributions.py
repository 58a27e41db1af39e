"""SHAP values of boosted trees, beside LightGBM's and XGBoost's ``pred_contrib``.

Each library explains its own model of the same size: 100 trees of 31 leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.trees.boosting import LIGHTGBM, PLACES, XGBOOST, parameters, table
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data

ADDITIVE = 1e-10
"""Relative error of the sums that is asked for; smaller ones count as equal."""


def explained_by(library: str, rows: int) -> Contender:
    """Contributions of the first held-out rows and their predictions, by a model fitted before."""
    module, name = PLACES[library]

    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name.format("Regressor"))

        def prepare(data: Data) -> Call:
            model = estimator(**parameters(library)).fit(data["X"], data["y"])
            asked = data["X_test"][:rows].copy()
            predicted = model.predict(asked)
            return lambda: (_contributions(library, model, asked).sum(axis=1), predicted)

        return prepare

    return load


def _contributions(library: str, model: Any, X: Any) -> Any:
    """One column per feature, and the mean of the model."""
    if library == LIGHTGBM:
        return model.predict(X, pred_contrib=True)
    if library == XGBOOST:
        matrix = import_module(PLACES[XGBOOST][0]).DMatrix(X)
        return model.get_booster().predict(matrix, pred_contribs=True)
    found = import_module(PLACES[OURS][0]).explain(model, X)
    return np.column_stack([found.values, np.full(len(X), found.base)])


def error_of_sums(data: Data, found: tuple[Any, Any]) -> float:
    """The largest error of the sum of a row's contributions, relative to the predictions."""
    sums, predicted = found
    return float(max(ADDITIVE, abs(sums - predicted).max() / abs(predicted).max()))


def explanations(rows: int) -> Case:
    """Contributions of this many rows."""
    return Case(
        f"SHAP values of 100 trees, {rows} rows × 30",
        table(100_000, "number"),
        {library: explained_by(library, rows) for library in (OURS, LIGHTGBM, XGBOOST)},
        error_of_sums,
        "largest relative error of the sums",
        bars=(Bar(LIGHTGBM, 1.0), Bar(XGBOOST, 1.0)),
    )


CASES = (explanations(1), explanations(100), explanations(20_000))

STUDIES = ()
