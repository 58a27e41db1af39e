"""One row may outweigh all others: the fit passes through it, and the others keep their digits."""

import warnings

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import IllConditionedWarning

X = np.random.default_rng(0).normal(size=(40, 4))
BETA = np.array([1.0, 2.0, 3.0, 4.0])
Y = X @ BETA + 5.0


def heavy(weight, *rows):
    w = np.ones(len(X))
    w[list(rows)] = weight
    return w


@pytest.mark.parametrize("weight", [1e16, 1e31, 1e34, 1e40, 1e100])
@pytest.mark.parametrize(
    "model", [th.LinearRegression(), th.LinearRegression(positive=True), th.Ridge(alpha=1e-10)]
)
def test_a_heavy_row_leaves_the_others_their_digits(model, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y, sample_weight=heavy(weight, 3))
    assert np.allclose(model.coef_, BETA, rtol=1e-6)
    assert np.isclose(model.intercept_, 5.0)


def test_the_fit_passes_through_the_heavy_row():
    noisy = np.column_stack([Y, -Y]) + np.random.default_rng(1).normal(size=(40, 2))
    model = th.LinearRegression().fit(X, noisy, sample_weight=heavy(1e40, 3))
    assert np.allclose(model.predict(X[3:4]), noisy[3])
    through = th.LinearRegression(fit_intercept=False).fit(X - X[3], noisy - noisy[3])
    assert np.allclose(model.coef_, through.coef_)


@pytest.mark.parametrize(("intercept", "rows"), [(True, (3, 5)), (False, (3,))])
def test_rows_that_are_lost_give_a_warning(intercept, rows):
    model = th.LinearRegression(fit_intercept=intercept)
    with pytest.warns(IllConditionedWarning, match="weights of the rows reach from 1 to 1e.40"):
        model.fit(X, Y, sample_weight=heavy(1e40, *rows))


@pytest.mark.parametrize("name", ["RidgeCV", "BayesianRidge", "RidgeClassifierCV"])
@pytest.mark.parametrize("weight", [1e34, 1e40, 1e100])
def test_a_spectrum_of_heavy_rows_gives_no_warning_of_numpy(name, weight):
    y = Y > 5.0 if "Classifier" in name else Y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = getattr(th, name)().fit(X, y, sample_weight=heavy(weight, 3))
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("name", ["RidgeCV", "BayesianRidge"])
def test_a_constant_column_gives_no_warning_of_numpy(name):
    constant = X.copy()
    constant[:, 2] = 3.7
    y = np.abs(Y - 5.0) + 0.1 + np.random.default_rng(0).random(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = getattr(th, name)().fit(constant, y)
    assert model.coef_[2] == 0


def test_sums_of_squares_without_digits_give_a_warning():
    with pytest.warns(IllConditionedWarning, match="BayesianLinearRegression: a sum of squares"):
        th.BayesianLinearRegression().fit(X, Y - 5.0, sample_weight=heavy(1e100, 3))


@pytest.mark.parametrize("weight", [1e31, 1e40])
def test_sums_of_squares_about_the_heavy_row_keep_the_digits_of_the_others(weight):
    """What rounding leaves of a sum about another centre may be negative."""
    model = th.BayesianLinearRegression().fit(X, Y, sample_weight=heavy(weight, 3))
    np.testing.assert_allclose(model.coef_, BETA, rtol=1e-6)
