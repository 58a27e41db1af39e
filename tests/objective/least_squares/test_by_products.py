"""Least squares from products alone: sparse rows of many columns, without d × d systems."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th


def rows(n, d, density=0.05, seed=0):
    random = np.random.default_rng(seed)
    X = sp.csr_array(sp.random_array((n, d), density=density, rng=random, format="csr"))
    return X, X @ random.standard_normal(d) + random.standard_normal(n)


@pytest.mark.parametrize("shape", [(300, 700), (1500, 600)])
def test_ridge_on_sparse_rows_of_many_columns_forms_no_system(shape):
    X, y = rows(*shape)
    model = th.Ridge().fit(X, y)
    assert model.solution_.solver == "lsqr"
    dense = th.Ridge().fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-4, atol=1e-5)
    residual = y - X @ model.coef_ - model.intercept_
    slope = X.T @ residual - model.coef_
    assert np.max(abs(slope)) <= 1e-5 * np.linalg.norm(residual)


def test_weights_repeat_rows():
    X, y = rows(400, 600)
    weight = np.random.default_rng(1).integers(1, 4, 400)
    again = np.repeat(np.arange(400), weight)
    one = th.Ridge(tol=1e-8).fit(X, y, sample_weight=weight)
    other = th.Ridge(tol=1e-8).fit(X[again], y[again])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7, atol=1e-9)


def test_an_ill_conditioned_tall_problem_ends_at_the_direct_solution():
    X, y = rows(1200, 600)
    mix = sp.diags_array([np.ones(600), np.ones(599)], offsets=[0, 1])
    X = sp.csr_array(X @ mix @ sp.diags_array(np.logspace(-4, 2, 600)))
    model = th.LinearRegression().fit(X, y)
    assert model.solution_.outcome.success
    assert "many steps" in model.solution_.reason or model.solution_.solver != "lsqr"
    best = np.linalg.lstsq(np.column_stack([X.toarray(), np.ones(1200)]), y)[1][0]
    found = np.sum((y - X @ model.coef_ - model.intercept_) ** 2)
    assert found <= best * (1 + 1e-9)


def test_threads_do_not_change_a_bit():
    X, y = rows(3000, 800, density=0.1)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(th.Ridge().fit(X, y).coef_)
    np.testing.assert_array_equal(*found)


def test_callbacks_and_time_limits_still_see_every_step():
    X, y = rows(300, 700)
    with th.config(max_time=1e-9), pytest.warns(Warning, match="time"):
        assert not th.Ridge().fit(X, y).solution_.outcome.success
