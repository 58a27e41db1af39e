"""Numbers of constructors are finite, but for the parameters with a meaning at infinity."""

import contextlib
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils._param_validation import make_constraint

import thetahat as th
from tests.conformance import estimator_cases as laws

ROWS = 40

UNBOUNDED = {
    "C": "no penalty, or a hard margin",
    "p": "the Chebyshev distance",
    "radius": "all rows are neighbours",
    "ccp_alpha": "only the root of a tree is left",
    "n_iter_no_change": "no early stopping",
    "margin": "cells without bounds",
    "max_subsets": "any number of subsets",
    "prior_covariance": "a flat prior",
    "max_trials": "as many draws as the inliers found so far ask for",
    "max_skips": "any number of draws may be skipped",
    "stop_n_inliers": "no stop by the number of inliers",
    "stop_score": "no stop by the score",
}
"""Parameters that may be infinite where the class says so, with the meaning."""

WITH_LIMITS = {
    ("EmbeddingNetwork", "margin"),
    ("Histogram", "margin"),
    ("KernelLogisticRegression", "C"),
}
"""Classes in which a parameter of such a name has no meaning at infinity."""


def numbers(name):
    """The parameters of an estimator that take numbers with fractions."""
    kind = type(laws.ESTIMATORS[name])
    for parameter in inspect.signature(kind).parameters.values():
        rule = kind._ranges.get(parameter.name)
        takes = rule is not None and any(rule.holds(value) for value in (0.5, 1.5, 20.0))
        if takes or "float" in str(parameter.annotation) or isinstance(parameter.default, float):
            yield parameter.name


CASES = [(name, parameter) for name in laws.ESTIMATORS for parameter in numbers(name)]


def fit_with(name, parameter, value):
    model = clone(laws.ESTIMATORS[name]).set_params(**{parameter: value})
    x = laws.suited(model, laws.X[:ROWS])
    return model.fit(x, laws.targets(model)[:ROWS])


@pytest.mark.parametrize(("name", "parameter"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_finite(name, parameter):
    unbounded = parameter in UNBOUNDED and (name, parameter) not in WITH_LIMITS
    for value in (np.nan, -np.inf) if unbounded else (np.nan, -np.inf, np.inf, np.float32("inf")):
        with pytest.raises(th.errors.ParameterError, match=rf"{name.split('.')[-1]}.*{parameter}"):
            fit_with(name, parameter, value)


def test_infinity_is_allowed_where_scikit_learn_gives_it_a_meaning():
    for name, parameter in CASES:
        peer, rule = laws.PEERS.get(name), type(laws.ESTIMATORS[name])._ranges.get(parameter)
        if peer is not None and parameter in UNBOUNDED:
            rules = [make_constraint(each) for each in peer._parameter_constraints[parameter]]
            if any(each.is_satisfied_by(np.inf) for each in rules):
                assert rule.holds(np.inf), (name, parameter)
        if rule is not None and rule.holds(np.inf) and not rule.holds(np.nan):
            assert parameter in UNBOUNDED, (name, parameter)
            assert (name, parameter) not in WITH_LIMITS


def test_the_message_asks_for_a_finite_number():
    with pytest.raises(th.errors.ParameterError, match=r"tol=inf must be a number ≥ 0\. Set tol"):
        th.NMF(2, tol=np.inf).fit(np.eye(3))
    with pytest.raises(th.errors.ParameterError, match="array of numbers ≥ 0"):
        th.Ridge(alpha=[1.0, np.inf]).fit(np.eye(2), np.eye(2))


NAMED = [
    (name, parameter)
    for name, model in laws.ESTIMATORS.items()
    for parameter, value in model.get_params(deep=False).items()
    if isinstance(value, str)
]


@pytest.mark.parametrize(("name", "parameter"), NAMED)
@pytest.mark.filterwarnings("ignore")
def test_an_array_in_the_place_of_a_name_is_no_error_of_numpy(name, parameter):
    model = clone(laws.ESTIMATORS[name])
    x, y = laws.suited(model, laws.X[:ROWS]), laws.targets(model)[:ROWS]
    model.set_params(**{parameter: np.array(["one", "two"])})
    with pytest.raises((ValueError, TypeError), match=parameter) as caught:
        model.fit(x, y)
    assert "ambiguous" not in str(caught.value)


@pytest.mark.parametrize("name", laws.ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_an_array_in_the_place_of_a_number_is_no_error_of_numpy(name):
    given = laws.ESTIMATORS[name]
    x, y = laws.suited(given, laws.X[:ROWS]), laws.targets(given)[:ROWS]
    for parameter, value in given.get_params(deep=False).items():
        if value is None or isinstance(value, bool | int | float):
            model = clone(given).set_params(**{parameter: np.array([0.5, 0.7])})
            with contextlib.suppress(th.errors.ParameterError, th.errors.DataError):
                model.fit(x, y)


ROWS_OF_X = laws.X[:ROWS]
LABELS = ROWS_OF_X[:, 0] > np.median(ROWS_OF_X[:, 0])
SCORED = ["RidgeCV", "RidgeClassifierCV", "LogisticRegressionCV", "HistGradientBoostingClassifier"]


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("scoring", [int, {}, {"one": "accuracy"}, ["accuracy"], 3])
def test_a_metric_is_a_name_or_a_function(name, scoring):
    with pytest.raises(th.errors.ParameterError, match=r"scoring=.* must be None, the name"):
        getattr(th, name)(scoring=scoring).fit(ROWS_OF_X, LABELS)


@pytest.mark.parametrize("name", SCORED[:3])
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("found", ["high", None, [1.0, 2.0]])
def test_a_metric_returns_one_number(name, cv, found):
    model = getattr(th, name)(cv=cv, scoring=lambda *given: found)
    with pytest.raises(th.errors.ParameterError, match="the scorer returned"):
        model.fit(ROWS_OF_X, LABELS)
