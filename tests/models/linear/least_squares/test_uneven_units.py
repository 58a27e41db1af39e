"""Columns of very different units: no direction is lost in the rounding errors of the largest."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.linalg.uneven_columns import gram_spectrum

UNITS = [1e7, 1e9, 1e12]


def rows_of(shape, unit):
    """Rows with one column in another unit, which y does not depend on."""
    random = np.random.default_rng(3)
    X = random.standard_normal(shape)
    y = X[:, 1] + X[:, 2] + random.standard_normal(len(X))
    return X * np.where(np.arange(shape[1]) == 0, unit, 1.0), y


def ridge_by_svd(X, y, alpha):
    """Coefficients from the singular values of the centred rows."""
    u, s, vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = s > max(X.shape) * np.finfo(float).eps * s[0]
    part = np.where(kept, s / (s**2 + alpha), 0.0) * (u.T @ (y - y.mean()))
    return vt.T @ part


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("shape", [(200, 10), (60, 30), (30, 60)], ids=str)
def test_ridge_cv_is_the_best_ridge(shape, unit):
    X, y = rows_of(shape, unit)
    alphas = [0.1, 1.0, 10.0, 100.0]
    model = th.RidgeCV(alphas).fit(X, y)
    errors = {}
    for alpha in alphas:
        kept = [np.arange(len(X)) != i for i in range(len(X))]
        left_out = [
            y[i] - y[k].mean() - (X[i] - X[k].mean(axis=0)) @ ridge_by_svd(X[k], y[k], alpha)
            for i, k in enumerate(kept)
        ]
        errors[alpha] = np.mean(np.square(left_out))
    assert model.alpha_ == min(errors, key=errors.get)
    np.testing.assert_allclose(-model.best_score_, errors[model.alpha_], rtol=1e-3)
    wanted = ridge_by_svd(X, y, model.alpha_)
    np.testing.assert_allclose(model.coef_[1:], wanted[1:], atol=1e-3)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0])
def test_fewer_rows_than_columns(alpha, unit):
    X, y = rows_of((30, 60), unit)
    model = th.Ridge(alpha).fit(X, y)
    np.testing.assert_allclose(model.coef_[1:], ridge_by_svd(X, y, alpha)[1:], atol=1e-3)
    if alpha == 0:
        assert th.LinearRegression().fit(X, y).rank_ == 29


@pytest.mark.parametrize("model", [th.BayesianRidge(), th.BayesianLinearRegression()])
@pytest.mark.parametrize("unit", UNITS)
def test_bayesian_models_do_not_depend_on_the_unit(model, unit):
    X, y = rows_of((200, 10), 1e3)
    usual = model.fit(X, y).predict(X)
    other = model.fit(*rows_of((200, 10), unit)).predict(rows_of((200, 10), unit)[0])
    np.testing.assert_allclose(other, usual, atol=1e-3)


def test_dependent_and_constant_columns_beside_large_ones():
    X, _ = rows_of((50, 6), 1e8)
    X[:, 3], X[:, 5] = X[:, 1] + X[:, 2], 0.0
    X -= X.mean(axis=0)
    gram = X.T @ X
    values, vectors, projected = gram_spectrum(gram, X.T @ X[:, [1]])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(values > 0, [False, False, True, True, True, True])
    size = np.abs(X).max(axis=0) + 1.0
    rebuilt = (vectors * values) @ vectors.T
    np.testing.assert_allclose(
        rebuilt / size / size[:, None], gram / size / size[:, None], atol=1e-6
    )
    assert not projected[:2].any()


def test_identical_rows_have_no_direction():
    X = np.tile(np.random.default_rng(0).standard_normal(60), (20, 1))
    model = th.LinearRegression().fit(X, np.arange(20.0))
    assert model.rank_ == 0
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(9.5)
