"""Ridge fits for many penalties from one spectrum."""

import numpy as np
import pytest

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.ridge_path import RidgePath

PENALTIES = np.array([0.1, 10.0])


def source_of(n, d):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) * 50 + 3.0
    return as_source(X, random.standard_normal((n, 2)), random.random(n) + 0.5)


@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("shape", [(30, 4), (5, 8)], ids=["many rows", "few rows"])
def test_every_penalty_gives_the_ridge_fit(chosen, shape):
    source = source_of(*shape)
    if shape[0] > shape[1]:
        path = RidgePath.of(source, moments(source), PENALTIES, intercept=True)
    else:
        path = RidgePath.of_few_rows(source, PENALTIES, intercept=True)
    theta = path.theta(np.array([chosen, chosen]))
    fit = direct_least_squares(source, ridge=PENALTIES[chosen], solver="svd").fit
    np.testing.assert_allclose(theta[:-1], fit.coef, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(theta[-1], fit.intercept, rtol=1e-6, atol=1e-8)


def test_the_share_of_noise_is_that_of_the_weakest_penalty():
    source = source_of(30, 4)
    path = RidgePath.of(source, moments(source), np.array([1e-9, 10.0]), intercept=True)
    fit = direct_least_squares(source).fit
    total = ((source.y - np.average(source.y, axis=0, weights=source.weight)) ** 2).T
    assert path.noise_share() == pytest.approx((fit.residual / (total @ source.weight)).min())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [3e7, 1e9])
def test_few_rows_far_away_cost_no_digits(shift, intercept):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + 0.1 * random.standard_normal(300)
    X[:15] += shift  # the eigenvalues of XᵀX differ by more than 1e15
    source = as_source(X, y)
    path = RidgePath.of(source, moments(source), PENALTIES, intercept=intercept)
    for chosen, penalty in enumerate(PENALTIES):
        fit = direct_least_squares(source, ridge=penalty, solver="svd", intercept=intercept).fit
        found = path.theta(np.array([chosen]))
        np.testing.assert_allclose(found[:-1], fit.coef, rtol=1e-6)


def test_units_of_columns_need_no_second_pass():
    random = np.random.default_rng(1)
    X = random.standard_normal((50, 3)) * [1.0, 1e8, 1e-6]
    source = as_source(X, X @ [1.0, 1e-8, 1e6])
    about = moments(source)
    path = RidgePath.of(source, about, np.array([1e-14]), intercept=True)
    unread = as_source(X + np.nan, check_finite=False)
    again = RidgePath.of(unread, about, np.array([1e-14]), intercept=True)
    np.testing.assert_array_equal(path.values, again.values)
