"""Try a loaded model on a few rows, so that a file whose parts do not fit is refused at once.

Most attributes of an estimator are plain arrays, and whether they fit each other shows when they
are used. A model is tried only if it takes matrices of numbers and if its answers cost little
whatever its parameters are; no function of the user is called.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.base import Estimator
from thetahat.estimator.density import Novelty
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.foundation.errors import DataError, ThetahatError
from thetahat.foundation.types import Array

NUMERIC_STEPS = ("Pipeline", "MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler")
"""Steps of scikit-learn that take matrices of numbers only."""
METHODS = (
    "decision_function", "predict_proba", "predict", "transform", "log_density", "kneighbors",
)  # fmt: skip
N_ROWS = 7
LARGEST = 2**20
"""Models of more columns are not tried: a row would be large."""
LARGEST_SAMPLED = 2**9
"""No rows are drawn from models of more columns, which may need a factorisation."""


def require_answers(model: Any, kinds: Iterable[type]) -> None:
    """Raise an error if a fitted model, made of objects of these classes, cannot be used.

    An error of the library is an answer: the rows may lie outside of the domain of the model.
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        return
    n_features: Any = getattr(model, "n_features_in_", None)
    is_number = isinstance(n_features, int) and not isinstance(n_features, bool)
    is_tried = isinstance(model, Estimator) and model._tried_when_loaded
    if is_tried and not (is_number and n_features > 0):
        raise DataError(f"n_features_in_ is {n_features!r:.40}, not a number of columns")
    if not is_number or n_features > LARGEST or not all(map(_takes_numbers, kinds)):
        return
    values = np.arange(float(N_ROWS))
    for each in (values, values % 2, values - N_ROWS):
        try:
            _ask(model, np.repeat(each[:, None], n_features, axis=1))
            break
        except _Unequal:
            raise
        except (ThetahatError, NotFittedError, MemoryError):
            continue
    if isinstance(model, Novelty) and n_features <= LARGEST_SAMPLED:
        try:
            _draw(model)
        except _Unequal:
            raise
        except (ThetahatError, NotFittedError, MemoryError):
            return


class _Unequal(DataError):
    """An answer has another size than its rows or its classes."""


def _ask(model: Any, rows: Array) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in METHODS:
            if hasattr(model, method):
                _require_size(model, method, getattr(model, method)(rows))


def _draw(model: Any) -> None:
    """Draw rows, for classifiers also from the first and the last class that is possible."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if hasattr(model, "sample"):
            found = model.sample(N_ROWS, random_state=0)
            rows = found[0] if isinstance(found, tuple) else found
            if np.shape(rows) != (N_ROWS, model.n_features_in_):
                raise _Unequal(f"sample returns rows of shape {np.shape(rows)}")
        if isinstance(model, GenerativeClassifier):
            possible = np.flatnonzero(model._class_shares())
            for code in possible[[0, -1]].tolist():
                model._sample_class(code, 1, np.random.default_rng(0))


def _require_size(model: Any, method: str, found: Any) -> None:
    shapes = [np.shape(each) for each in (found if isinstance(found, list | tuple) else [found])]
    if any(not shape or shape[0] != N_ROWS for shape in shapes):
        raise _Unequal(f"{method} returns an answer of shape {shapes[0]} for {N_ROWS} rows")
    classes = getattr(model, "classes_", None)
    if method not in ("predict_proba", "decision_function") or not isinstance(classes, np.ndarray):
        return
    n_columns = 2 if len(shapes[0]) == 1 else shapes[0][1]
    if n_columns != len(classes):
        raise _Unequal(f"{method} returns {n_columns} columns for {len(classes)} classes")


def _takes_numbers(kind: type) -> bool:
    if kind.__module__.startswith("sklearn."):
        return kind.__name__ in NUMERIC_STEPS
    return not issubclass(kind, Estimator) or kind._tried_when_loaded
