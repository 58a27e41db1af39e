"""The scorers of a model, and scikit-learn's metrics recognised from them, with their ranges.

Labels chosen by users are not reliable: ``{"accuracy": "f1"}`` is an F₁ score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import inf
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names

from thetahat.estimator.classifier import Classifier
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.evaluation.cross_fitting import (
    Scorer,
    accuracy_scorer,
    is_density_model,
    likelihood_scorer,
)
from thetahat.evaluation.folds import Fold
from thetahat.foundation.errors import ParameterError

SHARES = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "completeness",
    "f1",
    "fowlkes_mallows",
    "homogeneity",
    "jaccard",
    "normalized_mutual_info",
    "precision",
    "rand_score",
    "recall",
    "roc_auc",
    "top_k_accuracy",
    "v_measure",
)
"""Prefixes of the names of metrics that lie between 0 and 1."""
AT_MOST_ONE = ("adjusted", "d2", "explained_variance", "r2")


def scorers_for(
    model: Any, scoring: Any, folds: Sequence[Fold], supervised: bool
) -> dict[str, Scorer]:
    """The scorers by name; by default the one that the model's ``score`` method uses.

    R² is not defined for a single row. If a fold holds out one row, regressors are scored by their
    squared error instead.
    """
    if scoring is None:
        if own_score(model) == "accuracy":
            return {"accuracy": accuracy_scorer}
        if is_classifier(model):
            return {"accuracy": check_scoring(model)}
        if is_density_model(model):
            return {"log_likelihood": likelihood_scorer}
        if is_regressor(model) and any(len(test) == 1 for _, test in folds):
            return {"neg_mean_squared_error": get_scorer("neg_mean_squared_error")}
        return {"r2" if supervised else "score": check_scoring(model)}
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if not isinstance(scoring, Mapping):
        labels = [_label(each) for each in scoring]
        if len(set(labels)) < len(labels):
            raise ParameterError(
                f"scoring: two metrics have the same name in {labels}. Give a dict of distinct "
                "names to metrics."
            )
        scoring = dict(zip(labels, scoring, strict=True))
    if not scoring:
        raise ParameterError(
            f"scoring={scoring!r} is empty. Give at least one metric, such as 'accuracy'."
        )
    return {name: get_scorer(each) for name, each in scoring.items()}


def _label(scorer: Any) -> str:
    return scorer if isinstance(scorer, str) else getattr(scorer, "__name__", "score")


def known_as(scorer: Any) -> str | None:
    """The name of a scorer in scikit-learn; None if it is not one of scikit-learn's."""
    function = getattr(scorer, "_score_func", None)
    if not getattr(function, "__module__", "").startswith("sklearn."):
        return None
    return _names().get(_repr(scorer))


def _repr(scorer: Any) -> str:
    """The function of a scorer, its sign and its options, but not which class is positive."""
    options = {name: value for name, value in scorer._kwargs.items() if name != "pos_label"}
    return repr(
        (scorer._score_func, scorer._sign, scorer._response_method, sorted(options.items()))
    )


def own_score(model: Any) -> str | None:
    """The metric of a model's ``score`` method, if it is that of scikit-learn's mixins."""
    while hasattr(model, "steps"):  # the score of a pipeline is the score of its last step
        model = model.steps[-1][1]
    score = getattr(type(model), "score", None)
    if is_classifier(model) and score in (ClassifierMixin.score, Classifier.score):
        return "accuracy"
    return "r2" if score in (RegressorMixin.score, ScoredRegressor.score) else None


def range_of(known: str | None) -> tuple[float, float]:
    """The smallest and the largest value that a metric can have."""
    if known is None:
        return -inf, inf
    if known.startswith("neg_"):
        return -inf, 0.0
    if known.startswith(SHARES):
        return 0.0, 1.0
    if known == "matthews_corrcoef":
        return -1.0, 1.0
    return -inf, 1.0 if known.startswith(AT_MOST_ONE) else inf


def range_of_function(score: Any) -> tuple[float, float]:
    """The range of ``score(y, predicted)``, if it is the function of a scikit-learn scorer."""
    name, sign = _functions().get(score, (None, 1))
    least, most = range_of(name)
    return (least, most) if sign > 0 else (-most, -least)


@cache
def _names() -> dict[str, str]:
    return {_repr(get_scorer(name)): name for name in get_scorer_names()}


@cache
def _functions() -> dict[Any, tuple[str, int]]:
    known = {name: get_scorer(name) for name in get_scorer_names()}
    return {scorer._score_func: (name, scorer._sign) for name, scorer in known.items()}
