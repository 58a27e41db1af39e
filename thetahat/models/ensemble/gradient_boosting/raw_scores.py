"""Scores by scikit-learn's scorers for given raw predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.utils.validation import has_fit_parameter

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.rounds import Rows, Scorer


@with_parameters
class _Answers(BaseEstimator):
    """Stand-in for a fitted model whose predictions come from given raw predictions."""

    model: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _ClassAnswers(ClassifierMixin, _Answers):
    @property
    def classes_(self) -> Array:
        return self.model.classes_

    def predict(self, raw: Array) -> Array:
        return self.model._predicted(raw, raw)

    def predict_proba(self, raw: Array) -> Array:
        return self.model._probable(raw)

    def decision_function(self, raw: Array) -> Array:
        return self.model._shaped(raw, raw)


class _NumberAnswers(RegressorMixin, _Answers):
    def predict(self, raw: Array) -> Array:
        return self.model._predicted(raw, raw)


def scorer_of_raw(model: Any, scoring: Any, rows: Rows) -> Scorer:
    """Score of these rows by a scikit-learn scorer, as a function of their raw predictions."""
    labelled = hasattr(model, "classes_")
    answers = _ClassAnswers(model) if labelled else _NumberAnswers(model)
    scorer = check_scoring(answers, scoring=scoring)
    y = rows.y
    if labelled:
        y = model.classes_[np.maximum(y, 0).astype(np.intp)]
    absent = np.setdiff1d(model.classes_, y).tolist() if labelled else []
    weighted = {} if rows.weight is None else {"sample_weight": rows.weight}

    def score(raw: Array) -> float:
        try:
            found = scorer(answers, raw, y, **weighted)
        except ValueError as failure:
            if not len(absent):
                raise
            raise DataError(
                f"{type(model).__name__}: scoring={scoring!r} failed on rows without class "
                f"{', '.join(map(repr, absent))}, which decide about early stopping: {failure} "
                "Increase validation_fraction, add rows of this class, or use scoring='loss'."
            ) from failure
        return returned_number(found, "The metric scoring")

    assert has_fit_parameter(answers, "sample_weight")
    return score
