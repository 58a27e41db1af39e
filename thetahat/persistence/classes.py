"""Which classes and functions a file may name, and how.

A file is data from anywhere. What it names is looked up here and nowhere else: estimators, parts
and values of this library by their module, the steps of scikit-learn that only hold numbers and
text, and functions that only compute. Nothing else is imported, and nothing is ever called but the
constructor of a value, which checks its fields.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import thetahat
from thetahat.foundation.errors import CapabilityError, DataError

LAYERS = ("data", "mathematics", "objective", "estimator", "models", "evaluation")
"""Where the classes of this library live that models are made of."""

STEPS = {
    "sklearn.pipeline": ("Pipeline", "FeatureUnion"),
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor"),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MultiLabelBinarizer",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
        "TargetEncoder",
    ),
    "sklearn.feature_extraction": ("DictVectorizer", "FeatureHasher"),
    "sklearn.feature_extraction.text": (
        "CountVectorizer",
        "HashingVectorizer",
        "TfidfTransformer",
        "TfidfVectorizer",
    ),
    "sklearn.feature_selection": ("SelectFromModel", "SelectKBest", "VarianceThreshold"),
}
"""Steps of scikit-learn whose fitted state is numbers, text and other steps."""

FUNCTIONS = {
    "thetahat.objective.curve": ("linear_function",),
    "thetahat.models.preprocessing.similarity_features": ("inner_product",),
    "thetahat.models.nonlinear.response": ("_log_odds", "_probability"),
    "sklearn.feature_selection": ("chi2", "f_classif", "f_regression"),
    "sklearn.metrics.pairwise": (
        "cosine_similarity",
        "laplacian_kernel",
        "linear_kernel",
        "polynomial_kernel",
        "rbf_kernel",
        "sigmoid_kernel",
    ),
}
"""Functions of arrays that only compute; the ufuncs of NumPy are among them by their nature."""


def name_of(kind: type) -> str:
    """How a file names a class, or a refusal."""
    module, name = _public_module(kind), kind.__qualname__
    full = f"{module}:{name}"
    if class_named(full, refuse=False) is not kind:
        raise CapabilityError(
            f"A model file cannot hold a {kind.__module__}.{name}: it holds estimators, losses and "
            "penalties of thetahat, and scikit-learn's steps that only scale, encode or select. "
            "Save the parts that are among them, and put the rest around them after loading."
        )
    return full


def class_named(full: str, *, refuse: bool = True) -> type | None:
    """The class a file names; one it may not name is refused (or None)."""
    module, _, name = full.partition(":")
    if name in STEPS.get(module, ()):
        return _member(module, name)
    found = _member(module, name) if module in _own_modules() and name.isidentifier() else None
    if isinstance(found, type) and found.__module__ == module and _holds_data(found):
        return found
    if refuse:
        raise DataError(
            f"The file names the class {full!r}, which this version of thetahat does not load. It "
            "was made by another version, or it is no model."
        )
    return None


def function_name(function: Any) -> str:
    """How a file names a function: by module and name, whether or not it is one of `FUNCTIONS`."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}"
    if function is np.asarray:
        return "numpy:asarray"
    return f"{_public_module(function)}:{getattr(function, '__qualname__', repr(function))}"


def function_named(full: str) -> Any:
    """One of the functions every file may name, or None."""
    module, _, name = full.partition(":")
    if module == "numpy":
        found = getattr(np, name, None)
        return found if isinstance(found, np.ufunc) or name == "asarray" else None
    return _member(module, name) if name in FUNCTIONS.get(module, ()) else None


def _holds_data(kind: type) -> bool:
    """Whether making one runs nothing but checks: an estimator, a value object, an enumeration."""
    return issubclass(kind, BaseEstimator | Enum) or is_dataclass(kind)


def _public_module(thing: Any) -> str:
    """The module by which a class is known: scikit-learn's are defined in hidden ones."""
    module = getattr(thing, "__module__", None) or ""
    if not module.startswith("sklearn."):
        return module
    name = getattr(thing, "__qualname__", "")
    for public in (*STEPS, *FUNCTIONS):
        names = STEPS.get(public, ()) + FUNCTIONS.get(public, ())
        if name in names and _member(public, name) is thing:
            return public
    return module


def _member(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name, None)


@cache
def _own_modules() -> frozenset[str]:
    """The modules of the layers models are made of, found without importing them."""
    found = set()
    for layer in LAYERS:
        package = importlib.import_module(f"{thetahat.__name__}.{layer}")
        found.add(package.__name__)
        found.update(
            module.name
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        )
    return frozenset(found)
