"""What logistic regression refuses, and fits that stop early."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.generalized.logistic_data import SCORE, THREE, TWO, N, X, fit


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0 must be a number > 0"),
        ({"C": -1.0}, r"C=-1\.0 must be a number > 0"),
        ({"C": np.nan}, "C=nan must be a number > 0"),
        ({"l1_ratio": 1.5}, r"l1_ratio=1\.5 must be a number from 0 to 1"),
        ({"penalty": "l3"}, "penalty='l3' must be one of"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"reference": "d"}, r"reference='d' is not one of the classes of y: 'a', 'b', 'c'"),
        ({"class_weight": {"d": 1.0}}, "class_weight contains 'd'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LogisticRegression(**parameters).fit(X, THREE)


@pytest.mark.parametrize("C", [1e-12, 1e-300, 1e-320], ids=str)
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_a_tiny_C_leaves_only_the_intercept(C, l1_ratio):
    model = fit(C=C, l1_ratio=l1_ratio)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(np.log(TWO.mean() / (1 - TWO.mean())), rel=1e-5)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(N), "one class only"),
        (SCORE, "Unknown label type: continuous"),
        (np.where(np.arange(N) == 7, np.nan, TWO), r"contains NaN \(first at row 7\)"),
        (TWO[:-1], "inconsistent"),
    ],
    ids=["one class", "regression", "missing", "too few"],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        th.LogisticRegression().fit(X, y)


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match="1 iteration,"):
        model = th.LogisticRegression(max_iter=1).fit(X, TWO)
    assert model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED


def test_steps_that_end_within_the_tolerance_asked_for_are_enough():
    """The solver aims for a part of tol, and only tol is owed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = th.LogisticRegression(max_iter=3, tol=1e-2).fit(X, TWO)
    assert model.solution_.gap <= 1e-2
    assert model.solution_.outcome.success


def test_max_time_keeps_the_best_so_far():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.LogisticRegression().fit(X, TWO)
    assert model.score(X, TWO) > 0.6


def test_no_iteration_is_counted_where_none_is_allowed():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert th.LogisticRegression(max_iter=0).fit(X, y).n_iter_.tolist() == [0]
