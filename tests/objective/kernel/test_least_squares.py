"""Least squares under a kernel keeps its digits where K is singular and the penalty small."""

import warnings

import numpy as np
import pytest

import thetahat as th
from thetahat.objective.kernel.least_squares import KernelRidgePath, ridge_coefficients

PENALTIES = [1e-6, 1e-9, 1e-11, 1e-12, 1e-14]


def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    return X, X @ [1.0, 2.0, -1.0] + rng.normal(size=60), rng.uniform(0.5, 2.0, 60)


def line(X, y, weight, alpha, intercept):
    """Predictions of ridge regression by singular values."""
    return th.Ridge(alpha=alpha, fit_intercept=intercept, solver="svd").fit(X, y, weight).predict(X)


@pytest.mark.parametrize("alpha", PENALTIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_linear_kernel_is_ridge_regression(alpha, weighted):
    X, y, weight = rows()
    weight = weight if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.IllConditionedWarning)
        found = th.KernelRidge(alpha=alpha, kernel="linear").fit(X, y, weight).predict(X)
    np.testing.assert_allclose(found, line(X, y, weight, alpha, False), rtol=0, atol=1e-7)


@pytest.mark.parametrize("alpha", PENALTIES[:3])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_intercept_is_not_left_out(alpha, weighted):
    X, y, weight = rows()
    weight = weight if weighted else None
    found = ridge_coefficients(X @ X.T, y[:, None] + 3, alpha, weight, intercept=True)
    assert found is not None
    expected = line(X, y + 3, weight, alpha, True)
    np.testing.assert_allclose(X @ (X.T @ found[0][:, 0]) + found[1], expected, rtol=0, atol=1e-6)


def test_equal_rows_under_a_constant_kernel_leave_the_mean():
    y = np.arange(20.0)[:, None]
    found = ridge_coefficients(np.ones((20, 20)), y, 1e-12, intercept=True)
    assert found is not None
    np.testing.assert_allclose(found[0].sum() + found[1], y.mean())


@pytest.mark.parametrize("alpha", [1e-9, 1e-12])
def test_repeated_rows_are_rows_of_weight_two(alpha):
    X, y, _ = rows()
    model = th.KernelRidge(alpha=alpha, kernel="rbf", gamma=1.0)
    expected = model.fit(X, y, np.full(60, 2.0)).predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.IllConditionedWarning)
        found = model.fit(np.vstack([X, X]), np.r_[y - 1, y + 1]).predict(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_the_path_gives_the_same_fits(alpha):
    X, y, weight = rows()
    path = KernelRidgePath.of(X @ X.T, y[:, None], weight)
    found = X @ (X.T @ path.coefficients(alpha)[:, 0])
    np.testing.assert_allclose(found, line(X, y, weight, alpha, False), rtol=0, atol=1e-7)


@pytest.mark.parametrize("alpha", [1e-9, 1.0])
def test_left_out_residuals_are_those_of_fits_without_the_row(alpha):
    X, y, _ = rows()
    found = KernelRidgePath.of(X @ X.T, y[:, None], None).left_out_residuals(alpha)[:, 0]
    for row in (0, 17):
        rest = np.delete(np.arange(60), row)
        fit = th.Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(X[rest], y[rest])
        np.testing.assert_allclose(found[row], y[row] - fit.predict(X[[row]])[0], atol=1e-5)
