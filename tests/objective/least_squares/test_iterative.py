"""Least squares by descent reaches the direct solution."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.iterative import iterative
from thetahat.objective.least_squares.solve import least_squares


def source_of():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2)) * [1.0, 3.0] + 5.0
    y = np.column_stack([X[:, 0], X.sum(axis=1)]) + random.standard_normal((200, 2))
    return as_source(X, y)


def fitted(solver, ridge, tolerance=1e-10, max_steps=None):
    return iterative(
        source_of(), solver, ridge=ridge, intercept=True, tolerance=tolerance,
        max_steps=max_steps, random_state=0, watch=None,
    )  # fmt: skip


@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_gradient_descent_reaches_the_direct_solution(ridge):
    fit, solution = fitted("gradient_descent", ridge)
    exact = direct_least_squares(source_of(), ridge=ridge).fit
    assert solution.outcome.success
    np.testing.assert_allclose(fit.coef, exact.coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fit.intercept, exact.intercept, rtol=1e-5)


@pytest.mark.parametrize("solver", ["sgd", "mini_batch"])
def test_stochastic_methods_come_near(solver):
    fit, _ = fitted(solver, 0.0, tolerance=1e-3, max_steps=100)
    exact = direct_least_squares(source_of()).fit
    assert np.all(fit.residual < 1.05 * exact.residual)


def test_descent_has_no_bounds():
    with pytest.raises(th.errors.CapabilityError):
        least_squares(source_of(), solver="sgd", positive=True)
