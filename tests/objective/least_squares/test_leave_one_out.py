"""Leave-one-out residuals in closed form equal those of refits."""

import numpy as np
import pytest

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.leave_one_out import LeaveOneOut
from thetahat.objective.least_squares.ridge_path import RidgePath

PENALTIES = np.array([0.01, 1.0, 30.0])


def rows(alone=False):
    random = np.random.default_rng(0)
    X = random.standard_normal((15, 3)) + 1.0
    if alone:
        X[:, 2] = 0.0
        X[4, 2] = 2.0
    return X, X @ [1.0, -1.0, 2.0] + random.standard_normal(15)


def refitted(X, y, alpha, intercept):
    left = []
    for row in range(len(y)):
        kept = np.arange(len(y)) != row
        source = as_source(X[kept], y[kept])
        fit = direct_least_squares(source, ridge=alpha, intercept=intercept, solver="svd").fit
        left.append(y[row] - X[row] @ fit.coef[:, 0] - fit.intercept[0])
    return np.array(left)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alone", [False, True], ids=["ordinary", "one row alone has a column"])
def test_residuals_equal_those_of_refits(intercept, alone):
    X, y = rows(alone)
    source = as_source(X, y)
    path = RidgePath.of(source, moments(source), PENALTIES, intercept=intercept)
    found = LeaveOneOut(path, intercept).residuals(source)
    for place, alpha in enumerate(PENALTIES):
        expected = refitted(X, y, alpha, intercept)
        np.testing.assert_allclose(found[:, 0, place], expected, rtol=1e-6, atol=1e-8)


def test_mean_squared_errors_are_those_of_the_residuals():
    X, y = rows()
    source = as_source(X, y)
    path = RidgePath.of(source, moments(source), PENALTIES, intercept=True)
    left_out = LeaveOneOut(path, True)
    expected = (left_out.residuals(source) ** 2).mean(axis=0)
    np.testing.assert_allclose(left_out.mean_squared_errors(source), expected, rtol=1e-6)


@pytest.mark.parametrize("weak", [0.0, 1e-14, 1e-6])
def test_a_weak_penalty_costs_the_others_no_digits(weak):
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 3))
    X = np.column_stack([X, X[:, 2] + 1e-8 * random.standard_normal(30)])
    source = as_source(X, X[:, 0] + random.standard_normal(30))
    strong = np.array([1.0, 10.0, 100.0])
    errors = []
    for penalties in (strong, np.append(weak, strong)):
        path = RidgePath.of(source, moments(source), penalties, intercept=True)
        errors.append(LeaveOneOut(path, True).mean_squared_errors(source)[:, -3:])
    np.testing.assert_allclose(*errors, rtol=1e-9)
