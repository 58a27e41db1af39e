"""Logistic fits to one fold for all values of C, and their accuracy on the held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.products import product
from thetahat.foundation.types import Array
from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
from thetahat.objective.predictor import in_double


@dataclass(frozen=True)
class FoldPath:
    """Coefficients (Cs, scores, d + 1), iterations and scores for all Cs; number of early stops."""

    coefs: Array
    steps: Array
    n_early: int
    scores: Array


@dataclass(frozen=True)
class _Correct:
    """Weight of the correctly classified rows for every C, and of all rows."""

    correct: Array
    total: float

    def merge(self, other: _Correct) -> _Correct:
        return _Correct(self.correct + other.correct, self.total + other.total)


def accuracies(coefs: Array, held: Source) -> Array:
    """The accuracy for every C, from one matrix product for all of them."""
    found = held.reduce(_correct, coefs)
    if not found.total > 0:
        raise DataError(
            "LogisticRegressionCV: the held-out rows of a fold have a total weight of 0. Use fewer "
            "folds (cv), or leave out rows of weight 0."
        )
    return found.correct / found.total


def _correct(block: Block, coefs: Array) -> _Correct:
    n_strengths, n_scores, width = coefs.shape
    flat = coefs.reshape(-1, width)
    z = product(in_double(block.X), flat[:, :-1].T) + flat[:, -1]
    z = z.reshape(block.n_rows, n_strengths, n_scores)
    predicted = z[:, :, 0] > 0 if n_scores == 1 else z.argmax(axis=2)
    right = predicted == np.asarray(block.y)[:, None]
    if block.weight is None:
        return _Correct(right.sum(axis=0).astype(np.float64), float(block.n_rows))
    weight = np.asarray(block.weight, dtype=np.float64)
    return _Correct(weight @ right, float(weight.sum()))


def fitted_models(path: FoldPath, classes: Array) -> Iterator[LogisticRegression]:
    """A fitted `LogisticRegression` for every C of a path."""
    for coef in path.coefs:
        model = LogisticRegression()
        model.classes_, model.n_features_in_ = classes, coef.shape[1] - 1
        model.coef_ = np.ascontiguousarray(coef[:, :-1])
        model.intercept_ = np.ascontiguousarray(coef[:, -1])
        yield model
