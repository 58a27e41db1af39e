"""Which classes and functions a file may name, and how.

A file is data from anywhere. What it names is looked up here and nowhere else: estimators, parts
and values of this library by the names of `identities`, the steps of scikit-learn that only hold
numbers and text, and functions that only compute. Nothing else is imported, and nothing is ever
called but the constructor of a value, which checks its fields.
"""

from __future__ import annotations

import importlib
from dataclasses import is_dataclass
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.persistence.identities import identified, identity_of

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
"""Functions of scikit-learn that only compute; so do the ufuncs of NumPy."""


def name_of(kind: type) -> str:
    """How a file names a class, or a refusal."""
    module, own = _public_module(kind), kind.__qualname__
    name = f"{module}:{own}" if own in STEPS.get(module, ()) else identity_of(kind)
    if name is None or class_named(name, refuse=False) is not kind:
        raise CapabilityError(
            f"A model file cannot hold a {kind.__module__}.{own}: it holds estimators, losses and "
            "penalties of thetahat, and scikit-learn's steps that only scale, encode or select. "
            "Save the parts that are among them, and put the rest around them after loading."
        )
    return name


def class_named(name: str, *, refuse: bool = True) -> type | None:
    """The class a file names; one it may not name is refused (or None)."""
    module, _, own = name.partition(":")
    found = _member(module, own) if own in STEPS.get(module, ()) else identified(name)
    if isinstance(found, type) and (module in STEPS or _holds_data(found)):
        return found
    if refuse:
        raise DataError(
            f"The file names the class {name!r}, which this version of thetahat does not load. It "
            "was made by another version, or it is no model."
        )
    return None


def function_name(function: Any) -> str:
    """How a file names a function: by its identity, or else by module and name."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}"
    if function is np.asarray:
        return "numpy:asarray"
    if isinstance(function, FunctionType) and (known := identity_of(function)) is not None:
        return known
    return f"{_public_module(function)}:{getattr(function, '__qualname__', repr(function))}"


def function_named(name: str) -> Any:
    """One of the functions every file may name, or None."""
    module, _, own = name.partition(":")
    if module == "numpy":
        found = getattr(np, own, None)
        return found if isinstance(found, np.ufunc) or own == "asarray" else None
    if module in FUNCTIONS:
        return _member(module, own) if own in FUNCTIONS[module] else None
    found = identified(name)
    return found if isinstance(found, FunctionType) else None


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
