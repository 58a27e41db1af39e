"""X and y in units whose squares leave the range of doubles: the same fit, or a clear refusal."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 5))
Y = X @ [1.0, 2.0, 0.0, 0.0, -1.0] + RANDOM.standard_normal(40)
BY_SQUARES = [
    "RidgeCV",
    "BayesianRidge",
    "BayesianLinearRegression",
    "BestSubset",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
]


@pytest.mark.parametrize("name", [*BY_SQUARES, "Lasso", "LassoCV"])
def test_squares_that_overflow_are_refused(name):
    with pytest.raises(th.errors.DataError, match="Column 0 is so large that its squares overflow"):
        getattr(th, name)().fit(X * 1e160, Y * 1e160)
    with pytest.raises(
        th.errors.DataError, match="The target y is so large that its squares overflow"
    ):
        getattr(th, name)().fit(X, Y * 1e160)


@pytest.mark.parametrize("name", BY_SQUARES)
def test_squares_that_vanish_are_refused(name):
    with pytest.raises(th.errors.DataError, match="Column 0 is so small that its squares"):
        getattr(th, name)().fit(X * 1e-160, Y * 1e-160)


@pytest.mark.parametrize("name", ["RidgeCV", "BayesianRidge", "Ridge", "LinearRegression"])
@pytest.mark.parametrize(("scale", "size"), [(1e160, "large"), (1e-160, "small")])
def test_fewer_rows_than_columns_too(name, scale, size):
    with pytest.raises(th.errors.DataError, match=f"Column 0 is so {size} that its squares"):
        getattr(th, name)().fit(X[:4] * scale, Y[:4] * scale)


@pytest.mark.parametrize(
    "name",
    ["LinearRegression", "TotalLeastSquares", "NoiseReweightedRegression"],
)
@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_methods_without_squares_fit_them(name, scale):
    one, other = (getattr(th, name)().fit(X * by, Y * by) for by in (1.0, scale))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["BestSubset", "OrthogonalMatchingPursuit", "BayesianLinearRegression"]
)
@pytest.mark.parametrize("scale", [1e140, 1e-140])
def test_products_of_squares_are_never_formed(name, scale):
    one, other = (getattr(th, name)().fit(X * by, Y * by) for by in (1.0, scale))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)


def test_bayesian_ridge_of_large_numbers_is_sure_of_them():
    model = th.BayesianRidge().fit(X * 1e140, Y * 1e140)
    assert model.solution_.outcome.success
    np.testing.assert_allclose(model.coef_, th.BayesianRidge().fit(X, Y).coef_, rtol=0.05)
