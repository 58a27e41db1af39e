"""Columns prepared by the first steps of pipelines, once for all models with the same steps."""

from __future__ import annotations

import pickle
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from thetahat.data.resampling import take_rows
from thetahat.evaluation.folds import Fold
from thetahat.foundation.types import Array


class PreparedColumns:
    """Training rows and held-out rows of folds, as the last step of a pipeline receives them."""

    def __init__(self) -> None:
        self._found: dict[Any, tuple[Any, Any]] = {}

    def of(self, model: Any, X: Any, y: Array, fold: Fold, key: Any) -> tuple[Any, Any]:
        """The rows of a fold after all steps of the model but the last; `key` names the fold."""
        train, test = fold
        steps = model.steps[:-1]
        known: Any
        try:
            known = key, pickle.dumps(steps)
        except Exception:  # steps that cannot be compared are not shared
            known = None
        if known in self._found:
            return self._found[known]
        first = clone(Pipeline(steps))
        seen = first.fit_transform(take_rows(X, train), y[train])
        found = seen, first.transform(take_rows(X, test))
        if known is not None:
            self._found[known] = found
        return found
