"""The classes and functions that a model file may refer to.

Model files may come from untrusted places. Their names are looked up only here: estimators, parts
and values of this library by the names in `identities`, the steps of scikit-learn that hold only
numbers and text, and functions that only compute. Nothing else is imported, and only constructors
of value objects are called, which check their fields.
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
from thetahat.persistence.identities import identified_class, identified_function, identity_of

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
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.discriminant_analysis": (
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ),
    "sklearn.dummy": ("DummyClassifier", "DummyRegressor"),
    "sklearn.linear_model": (
        "BayesianRidge",
        "ElasticNet",
        "HuberRegressor",
        "Lasso",
        "LinearRegression",
        "LogisticRegression",
        "Ridge",
        "RidgeClassifier",
    ),
    "sklearn.naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
}
"""Steps and models of scikit-learn whose fitted state is numbers, text and other steps, and which
compute with NumPy alone: no compiled code of theirs walks over arrays from a file."""

NUMPY_FUNCTIONS = ("asarray", "mean", "median", "max", "min", "sum")
"""Functions of NumPy that every file may use, beside its universal functions."""

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
    """The name of a class in model files; raises an error for a class that cannot be saved."""
    module, own = _public_module(kind), kind.__qualname__
    name = f"{module}:{own}" if own in STEPS.get(module, ()) else identity_of(kind)
    if name is None or class_named(name, refuse=False) is not kind:
        raise CapabilityError(
            f"A model file cannot hold a {kind.__module__}.{own}. It can hold estimators, losses "
            "and penalties of thetahat, and those steps and models of scikit-learn that are arrays "
            "of numbers and text, such as scalers, encoders, linear models and naive Bayes. Use "
            "one of these, or save the model with pickle."
        )
    return name


def class_named(name: str, *, refuse: bool = True) -> type | None:
    """The class with this name; an unknown name raises an error (or returns None)."""
    module, _, own = name.partition(":")
    found = _member(module, own) if own in STEPS.get(module, ()) else identified_class(name)
    if isinstance(found, type) and (module in STEPS or _holds_data(found)):
        return found
    if refuse:
        raise DataError(
            f"The file contains the class {name!r}, which this version of thetahat cannot load. "
            "The file was written by another version, or it is not a model file."
        )
    return None


def numpy_function(value: Any) -> str | None:
    """The name of one of NumPy's functions that every file may use, or None."""
    return next((name for name in NUMPY_FUNCTIONS if value is getattr(np, name)), None)


def function_name(function: Any) -> str:
    """The name of a function in model files: its identity, or else module and name."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}"
    if (of_numpy := numpy_function(function)) is not None:
        return f"numpy:{of_numpy}"
    if isinstance(function, FunctionType) and (known := identity_of(function)) is not None:
        return known
    return f"{_public_module(function)}:{getattr(function, '__qualname__', repr(function))}"


def function_named(name: str) -> Any:
    """One of the functions that every file may use, or None."""
    module, _, own = name.partition(":")
    if module == "numpy":
        found = getattr(np, own, None)
        return found if isinstance(found, np.ufunc) or own in NUMPY_FUNCTIONS else None
    if module in FUNCTIONS:
        return _member(module, own) if own in FUNCTIONS[module] else None
    return identified_function(name)


def _holds_data(kind: type) -> bool:
    """Whether its constructor only checks fields: an estimator, a value object, an enumeration."""
    return issubclass(kind, BaseEstimator | Enum) or is_dataclass(kind)


def _public_module(thing: Any) -> str:
    """The public module of a class; scikit-learn defines its classes in private modules."""
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
