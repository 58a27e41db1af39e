"""Fits by L-BFGS do not depend on the units of the columns."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th

FACTORS = np.array([1e4, 1.0, 1e-4])


def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    return X, rng.gamma(2, np.exp(X @ [0.5, -0.3, 0.4] + 1) / 2)


@pytest.mark.parametrize("power", [-1.0, 2.5, 3.0])
@pytest.mark.parametrize("as_rows", [np.asarray, scipy.sparse.csr_array])
def test_non_convex_deviances_do_not_depend_on_units(power, as_rows):
    X, y = rows()
    model = th.TweedieRegressor(power=power, link="log", alpha=0)
    expected = model.fit(as_rows(X), y).coef_.copy()
    found = model.fit(as_rows(X * FACTORS), y).coef_
    np.testing.assert_allclose(found * FACTORS, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "huber", "poisson", "gamma", "tweedie", "cauchy"])
def test_linear_models_by_lbfgs_do_not_depend_on_units(loss):
    X, y = rows()
    y = (y > 3).astype(int) if loss == "logistic" else np.round(y) if loss == "poisson" else y
    fits = [
        th.LinearModel(loss=loss, penalty=None, solver="lbfgs").fit(X * factors, y)
        for factors in (1.0, FACTORS)
    ]
    found, expected = np.ravel(fits[1].coef_) * FACTORS, np.ravel(fits[0].coef_)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_several_outputs_do_not_depend_on_units():
    X, y = rows()
    y = np.digitize(y, [2.0, 4.0])
    fits = [
        th.LinearModel(loss="softmax", penalty=None, solver="lbfgs").fit(X * factors, y)
        for factors in (1.0, FACTORS)
    ]
    found, expected = (
        each.predict_proba(X * f) for each, f in zip(fits, (1.0, FACTORS), strict=True)
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_a_weak_penalty_does_not_hide_a_column_of_small_numbers():
    X, y = rows()
    model = th.TweedieRegressor(power=3, link="log", alpha=1e-14)
    expected = model.fit(X, y).coef_.copy()
    found = model.fit(X * FACTORS, y).coef_
    np.testing.assert_allclose(found * FACTORS, expected, rtol=0, atol=1e-3)


def test_columns_of_zeros_and_of_extreme_size_have_units():
    X, y = rows()
    X = np.column_stack([X * [1.0, 1e-120, 1e120], np.zeros(len(X))])
    model = th.TweedieRegressor(power=3, link="log", alpha=0).fit(X, y)
    assert model.solution_.outcome.success
    assert model.coef_[3] == 0
