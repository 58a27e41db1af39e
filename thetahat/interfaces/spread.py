"""The models that are tried on a table, found in the catalog.

An estimator declares whether it is tried by default (`_everyday`, its name in the output); any
other estimator of the catalog can be requested by its class name. Names are compared without case,
spaces and endings such as Classifier, and the usual abbreviations are known. Each model is the last
step of a pipeline that prepares the columns for it, and the target where the model declares this.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import thetahat
from thetahat.catalog import estimators
from thetahat.foundation.errors import ParameterError
from thetahat.models.preprocessing.table_vectorizer import TableVectorizer

EVERYDAY = (
    "ConstantClassifier",
    "ConstantRegressor",
    "GaussianNB",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "HuberRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelLogisticRegression",
    "KernelModel",
    "LassoCV",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RidgeCV",
)
"""The estimators that declare `_everyday`; only their modules are loaded if no others are named."""
SHORT: dict[str, str | dict[str, str]] = {
    "bayes": "naive Bayes",
    "boosting": "boosted trees",
    "forest": "random forest",
    "gbdt": "boosted trees",
    "gbm": "boosted trees",
    "gp": "GaussianProcess",
    "kernel": {"classification": "kernel logistic regression", "regression": "kernel machine"},
    "knn": "nearest neighbours",
    "lda": "linear discriminant analysis",
    "linear": {"classification": "logistic regression", "regression": "ridge"},
    "logit": "logistic regression",
    "mean": "always the mean",
    "mlp": "small network",
    "nb": "naive Bayes",
    "neighbors": "nearest neighbours",
    "neighbours": "nearest neighbours",
    "network": "small network",
    "ols": "LinearRegression",
    "qda": "QuadraticDiscriminantAnalysis",
    "rf": "random forest",
    "svc": "SVC",
    "svm": {"classification": "SVC", "regression": "SVR"},
    "tree": "DecisionTree",
}
"""Abbreviations of models, for both tasks or for each task."""
ENDINGS = ("cv", "classifier", "regressor", "regression")
STACK = "stack"
TERMS_OF_TREES = 200
"""Largest number of words of a text column for trees, which read every word in every row."""


def pipelines(
    task: str,
    kinds: Mapping[str, str],
    asked: Sequence[str] | None = None,
    seed: int = 0,
    option: str = "--models",
) -> dict[str, Pipeline]:
    """Models by name, each in a pipeline that prepares the columns.

    `option` is the one by which the user names the models; messages mention it.
    """
    chosen = _asked_for(task, asked, option) if asked else everyday(task)
    return {name: _pipeline(kind, kinds, seed) for name, kind in chosen.items()}


def everyday(task: str) -> dict[str, type]:
    """The estimators of the catalog that are tried by default, in the order of their names."""
    kinds = [getattr(thetahat, name) for name in EVERYDAY]
    named = {kind._everyday: kind for kind in kinds if _fits(kind, task)}
    return dict(sorted(named.items(), key=lambda item: (not item[0].startswith("always"), item[0])))


def _of_task(task: str) -> dict[str, Any]:
    return {
        name: kind
        for name, kind in estimators().items()
        if "." not in name and hasattr(kind, "_example") and _fits(kind, task)
    }


def _fits(kind: Any, task: str) -> bool:
    return bool((is_classifier if task == "classification" else is_regressor)(kind._example()))


def _asked_for(task: str, asked: Sequence[str], option: str) -> dict[str, type]:
    usual = everyday(task)
    names = _usual_names(task, usual)
    known: Mapping[str, Any] = {kind.__name__: kind for kind in usual.values()}
    classes = set(dir(thetahat)) - set(known)
    if not all(each in known or (_plain(each) in names and each not in classes) for each in asked):
        known = _of_task(task)  # which loads all models
        names = _names(task, known)
    chosen = {}
    for each in asked:
        name = each if each in known else names.get(_plain(each))
        if name is None:
            raise ParameterError(_unknown(each, task, names, option))
        chosen[known[name]._everyday or name] = known[name]
    return chosen


def _usual_names(task: str, usual: Mapping[str, type]) -> dict[str, str]:
    """The names of the classes of the usual models by their plain names and abbreviations."""
    found = {_plain(name): kind.__name__ for name, kind in usual.items()}
    return found | _abbreviations(task, found)


def _abbreviations(task: str, found: Mapping[str, str]) -> dict[str, str]:
    full = {short: of if isinstance(of, str) else of[task] for short, of in SHORT.items()}
    return {short: found[_plain(of)] for short, of in full.items() if _plain(of) in found}


def _names(task: str, known: Mapping[str, Any]) -> dict[str, str]:
    """The names of classes by all plain names under which they can be requested."""
    found: dict[str, str] = {}
    for name in known:
        stem = _plain(name)
        for ending in ENDINGS:
            stem = stem.removesuffix(ending) or stem
            found.setdefault(stem, name)
    found |= {_plain(name): name for name in known}
    # The usual models take precedence: lasso chooses its penalty by itself, Lasso does not.
    found |= {_plain(kind._everyday): name for name, kind in known.items() if kind._everyday}
    return found | _abbreviations(task, found)


def _plain(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return "".join(each for each in name.casefold() if each not in " -_\t")


def _unknown(asked: str, task: str, names: Mapping[str, str], option: str) -> str:
    known = _of_task(task)
    full = {_plain(name): name for name in [*everyday(task), *known]}
    near = difflib.get_close_matches(_plain(asked), [*names], n=3, cutoff=0.5)
    shown = list(dict.fromkeys(full.get(each, each) for each in near))
    hint = f" Did you mean {', '.join(shown)}?" if shown else ""
    short = [each for each in SHORT if each in names]
    return (
        f"{option} {asked}: there is no model of this name for {task}.{hint} The usual models are "
        f"{', '.join(everyday(task))}; short names are {', '.join(short)}; all class names work: "
        f"{', '.join(sorted(known))}."
    )


def _pipeline(kind: Any, kinds: Mapping[str, str], seed: int) -> Pipeline:
    model = kind._example()
    params = model.get_params(deep=False)
    model.set_params(**kind._everyday_params)
    if "random_state" in params:
        model.set_params(random_state=seed)
    if kind._everyday_unit_target and is_regressor(model):
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    if "categorical_features" not in params:
        return Pipeline([("columns", TableVectorizer(dict(kinds))), ("model", model)])
    plain = [name for name, each in kinds.items() if each not in ("date", "text")]
    places = [place for place, name in enumerate(plain) if kinds[name] == "categorical"]
    model.set_params(categorical_features=places or None)
    columns = TableVectorizer(dict(kinds), encoding="codes", max_terms=TERMS_OF_TREES)
    return Pipeline([("columns", columns), ("model", model)])
