"""Direct least squares: every solver finds the same coefficients."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import DIRECT, choose, direct_least_squares


def rows(n=40, d=3):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) + 3.0
    return X, np.column_stack([X.sum(axis=1), X[:, 0]]) + random.standard_normal((n, 2))


@pytest.mark.parametrize("solver", [*DIRECT, "lsqr", "auto"])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_normal_equations_hold(solver, ridge, intercept):
    X, y = rows()
    weight = np.random.default_rng(1).random(len(X))
    source = as_source(X, y, weight)
    fit = direct_least_squares(
        source, solver=solver, ridge=ridge, intercept=intercept, tolerance=1e-12
    ).fit
    residual = weight[:, None] * (y - X @ fit.coef - fit.intercept)
    np.testing.assert_allclose(X.T @ residual, ridge * fit.coef, atol=1e-6)
    if intercept:
        np.testing.assert_allclose(residual.sum(axis=0), 0.0, atol=1e-7)


def test_dependent_columns_give_the_solution_of_least_norm():
    X, y = rows()
    X[:, 2] = X[:, 0] + X[:, 1]
    found = direct_least_squares(as_source(X, y), intercept=False)
    np.testing.assert_allclose(found.fit.coef, np.linalg.pinv(X) @ y, atol=1e-9)
    assert found.fit.rank == 2


def test_negative_coefficients_are_forbidden_if_asked():
    X, y = rows()
    y = y - 2 * X[:, [1]]
    coef = direct_least_squares(as_source(X, y), positive=True).fit.coef
    assert coef.min() == 0.0
    with pytest.raises(th.errors.CapabilityError, match="active sets"):
        direct_least_squares(as_source(X, y), positive=True, solver="svd")


def test_the_choice_follows_the_shape():
    assert choose(10, 1000, sparse=False, ridge=False).solver == "dual"
    assert choose(1000, 10, sparse=False, ridge=True).solver == "cholesky"
    assert choose(10**6, 10**4, sparse=True, ridge=False).solver == "lsqr"
