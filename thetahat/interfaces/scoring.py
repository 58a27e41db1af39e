"""The metrics that --scoring accepts for a task."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.interfaces.problem import Problem
from thetahat.interfaces.splits import Splits

MODULES = {
    "classification": ("sklearn.metrics._classification", "sklearn.metrics._ranking"),
    "regression": ("sklearn.metrics._regression",),
}
"""The modules of scikit-learn that hold the metrics of each task."""
MANY_ROWS = 50_000
"""Number of rows from which no metric is added that needs further predictions."""


def require_scoring(name: str, task: str, y: Array) -> None:
    """Refuse a metric that does not exist, or that cannot score this target."""
    if name in get_scorer_names() and _can_score(name, task, y):
        return
    other = "regression" if task == "classification" else "classification"
    if name not in get_scorer_names():
        what = "is not a metric"
    elif name in metrics_of(other):
        what = f"is a metric of {other}"
    else:
        what = "cannot score this target"
    suited = [each for each in metrics_of(task) if _can_score(each, task, y)]
    near = difflib.get_close_matches(name, suited, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ParameterError(
        f"--scoring {name} {what}.{hint} The metrics for this target are {', '.join(suited)}."
    )


def _can_score(name: str, task: str, y: Array) -> bool:
    """Whether a metric accepts such a target, tried with a constant on a few rows."""
    classify = task == "classification"
    if classify:
        classes = np.unique(y)
        if y.dtype.kind not in "iuf" and name in metrics_of("regression"):
            return False
        few = np.append(np.repeat(classes, 2), classes[:1])
    else:
        if name in metrics_of("classification"):
            return False
        few = np.array([y.min(), np.median(y), y.max()])
    rows = np.zeros((len(few), 1))
    constant = DummyClassifier() if classify else DummyRegressor()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer = get_scorer(scorer_of(name, few))
            scorer(constant.fit(rows, few), rows, few)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def scorer_of(name: str, y: Array) -> Any:
    """A metric, with the rarer of two classes as the positive one if it needs one named."""
    scorer = get_scorer(name)
    function, options = scorer._score_func, dict(scorer._kwargs)
    classes, counts = np.unique(y, return_counts=True)
    if classes.size != 2 or options.get("average", "binary") != "binary" or 1 in classes.tolist():
        return name
    if "pos_label" not in signature(function).parameters:
        return name
    options["pos_label"] = classes[counts.argmin()]
    method = scorer._response_method
    return make_scorer(
        function, response_method=method, greater_is_better=scorer._sign > 0, **options
    )


NAMES = {
    "neg_log_loss": "log loss",
    "neg_mean_absolute_error": "mean absolute error",
    "neg_median_absolute_error": "median absolute error",
    "neg_root_mean_squared_error": "root mean squared error",
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "f1_macro": "F₁, mean of classes",
}
"""Names of metrics in tables, where they differ from those of scikit-learn."""


def metric_name(name: str) -> str:
    """A metric as words."""
    return NAMES.get(name, name.removeprefix("neg_").replace("_", " "))


def further_metrics(
    problem: Problem, models: Mapping[str, Any], splits: Splits, but: str
) -> list[str]:
    """Metrics that are reported beside the main one: those that all models and folds allow."""
    y, folds = problem.y, splits.folds
    if problem.task == "regression":
        found = ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"]
        found.append("neg_median_absolute_error")
        sizes = [len(test) for _, test in folds] if not isinstance(folds, int) else []
        smallest = min(sizes, default=problem.n_rows // splits.n_folds)
        return [name for name in found if name != but and (smallest > 1 or name != "r2")]
    n_classes = len(np.unique(y))
    whole = isinstance(folds, int) or all(
        len(np.unique(y[rows])) == n_classes for fold in folds for rows in fold
    )
    sure = all(hasattr(each, "predict_proba") for each in models.values())
    ranked = all(
        hasattr(each, "predict_proba") or hasattr(each, "decision_function")
        for each in models.values()
    )
    found = ["accuracy", "balanced_accuracy", *["f1_macro"] * (n_classes > 2)]
    if whole and ranked:
        found += ["roc_auc"] * (n_classes == 2)
    if whole and sure:
        found += ["neg_log_loss"] * (problem.n_rows <= MANY_ROWS)
    return [name for name in found if name != but]


def metrics_of(task: str) -> list[str]:
    """The names of scikit-learn's metrics for a task."""
    return [name for name in get_scorer_names() if _module(name).startswith(MODULES[task])]


def _module(name: str) -> str:
    return str(getattr(get_scorer(name)._score_func, "__module__", ""))
