"""The outputs of a fitted model for the held-out rows, each computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from thetahat.foundation.types import Array

REPLAYED = ("predict", "predict_proba", "decision_function", "predict_log_proba")


class Answers:
    """Stands for a fitted model whose rows are given by their places among the held-out rows.

    A scorer of scikit-learn calls it as it calls the model. Each output is computed once for all
    rows, so that a score without some rows costs no further prediction. The first steps of a
    pipeline prepare the columns once for all outputs.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X = model, X
        self._found: dict[str, Any] = {}
        self._last: Any = None

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_model", "_X", "_found", "_last"):
            raise AttributeError(name)
        found = getattr(self._model, name)
        if name not in REPLAYED:
            return found

        def replayed(rows: Array) -> Any:
            values = self._output(name)
            if isinstance(values, list):
                return [np.asarray(each)[rows] for each in values]
            return values[rows] if hasattr(values, "tocsr") else np.asarray(values)[rows]

        replayed.__name__ = name
        return replayed

    def _output(self, name: str) -> Any:
        """An output for all rows."""
        if self._last is None:
            self._last = self._model
            if type(self._model) is Pipeline and len(self._model.steps) > 1:
                self._last, self._X = self._model[-1], self._model[:-1].transform(self._X)
        if name not in self._found:
            shares = None
            if name == "predict" and getattr(self._last, "_predicts_most_probable", False):
                shares = self._output("predict_proba")  # costs a search of neighbours
            if isinstance(shares, np.ndarray):
                self._found[name] = self._last.classes_[shares.argmax(axis=1)]
            else:
                self._found[name] = getattr(self._last, name)(self._X)
        return self._found[name]


def answers_of(model: Any, X: Any) -> Answers:
    """The outputs of a model, under the name of its class, which messages of scorers show."""
    kind = type(type(model).__name__, (Answers,), {})
    return kind(model, X)
