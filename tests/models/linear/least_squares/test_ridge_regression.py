"""Ridge regression as a function: scikit-learn's coefficients, shapes and order of results."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import thetahat as th

ridge_regression = th.functions.ridge_regression


def table(n_targets=None):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 5)) + 1.0
    shape = (5,) if n_targets is None else (5, n_targets)
    y = X @ random.normal(size=shape)
    return X, y + 0.1 * random.normal(size=y.shape) + 3.0


@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_coefficients_and_shapes_are_scikit_learns(n_targets, form):
    X, y = table(n_targets)
    weight = np.linspace(0.5, 2.0, 40)
    alpha = 2.0 if n_targets != 3 else np.array([0.1, 1.0, 10.0])
    ours = ridge_regression(form(X), y, alpha, sample_weight=weight)
    theirs = sklearn.linear_model.ridge_regression(X, y, alpha, sample_weight=weight)
    assert ours.shape == theirs.shape
    assert np.allclose(ours, theirs)


@pytest.mark.parametrize("n_targets", [None, 1, 3])
def test_intercept_and_iterations_follow_the_coefficients(n_targets):
    X, y = table(n_targets)
    coef, n_iter, intercept = ridge_regression(X, y, 2.0, return_n_iter=True, return_intercept=True)
    model = sklearn.linear_model.Ridge(2.0).fit(X, y)
    assert np.allclose(coef, np.reshape(model.coef_, coef.shape))
    assert np.allclose(intercept, model.intercept_)
    assert np.ndim(intercept) == (1 if n_targets == 3 else 0)
    assert n_iter == 1
    two = ridge_regression(X, y, 2.0, return_intercept=True)
    assert np.array_equal(two[0], coef)
    assert np.array_equal(two[1], intercept)
    assert len(ridge_regression(X, y, 2.0, return_n_iter=True)) == 2


def test_positive_coefficients():
    X, y = table()
    coef = ridge_regression(X, y, 1.0, positive=True)
    theirs = sklearn.linear_model.ridge_regression(X, y, 1.0, positive=True, tol=1e-10)
    assert coef.min() >= 0
    assert np.allclose(coef, theirs, atol=1e-5)


def test_what_makes_no_sense_is_refused():
    X, y = table()
    with pytest.raises(th.errors.ParameterError, match="alpha"):
        ridge_regression(X, y, -1.0)
    with pytest.raises(ValueError, match="targets and number of penalties"):
        ridge_regression(X, y, np.array([1.0, 2.0]))
    with pytest.raises(th.errors.ParameterError, match="solver"):
        ridge_regression(X, y, 1.0, solver="nonsense")
