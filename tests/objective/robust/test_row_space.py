"""Wide rows in coordinates of their span."""

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.row_space import RowSpace


def wide(n=12, d=40, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, d)), random.standard_normal(n)


def test_predictions_and_lengths_are_the_same():
    X, y = wide()
    X[3] = X[7]  # dependent rows have fewer directions
    space = RowSpace.of(as_source(X, y), LinearPredictor(40))
    assert space.predictor.n_features == 11
    theta = np.random.default_rng(1).standard_normal(12)
    back = space.back(theta)
    inside = space.predictor.raw(space.source.X, theta)
    np.testing.assert_allclose(X @ back[:-1] + back[-1], inside, atol=1e-12)
    assert np.linalg.norm(back[:-1]) == pytest.approx(np.linalg.norm(theta[:-1]))
    np.testing.assert_allclose(space.to(back), theta, atol=1e-12)
    assert space.interpolant() is None  # the two equal rows have different targets


def test_tall_rows_stay_as_they_are():
    X, y = wide(40, 12)
    source = as_source(X, y)
    space = RowSpace.of(source, LinearPredictor(12))
    assert space.source is source
    assert space.axes is None


@pytest.mark.parametrize("intercept", [True, False])
def test_the_interpolant_is_the_shortest(intercept):
    X, y = wide()
    space = RowSpace.of(as_source(X, y), LinearPredictor(40, fit_intercept=intercept))
    theta = space.back(space.interpolant())
    level = theta[-1] if intercept else 0.0
    np.testing.assert_allclose(X @ theta[:40] + level, y, atol=1e-10)
    rows = X - X.mean(axis=0) if intercept else X
    target = y - y.mean() if intercept else y
    # The shortest β for centred rows need not be the shortest for any b, but none is shorter.
    assert np.linalg.norm(theta[:40]) <= np.linalg.norm(np.linalg.pinv(rows) @ target) + 1e-9


def test_rows_of_weight_0_add_no_direction():
    X, y = wide()
    weight = np.r_[np.ones(8), np.zeros(4)]
    space = RowSpace.of(as_source(X, y, weight), LinearPredictor(40))
    assert space.predictor.n_features == 8
    theta = np.random.default_rng(1).standard_normal(9)
    back = space.back(theta)
    inside = space.predictor.raw(space.source.X, theta)
    np.testing.assert_allclose(X @ back[:-1] + back[-1], inside, atol=1e-12)
    alone = RowSpace.of(as_source(X[:8], y[:8]), LinearPredictor(40))
    expected = alone.back(alone.interpolant())
    np.testing.assert_allclose(space.back(space.interpolant()), expected, atol=1e-12)


def test_dependent_rows_may_determine_the_intercept():
    X, y = wide()
    X[-1], y[-1] = 2 * X[0], 2 * y[0] - 3.0  # x₀β + b = y₀ and 2x₀β + b = 2y₀ − 3 give b = 3
    source = as_source(X, y)
    space = RowSpace.of(source, LinearPredictor(40))
    theta = space.back(space.interpolant())
    assert theta[-1] == pytest.approx(3.0)
    np.testing.assert_allclose(X @ theta[:40] + theta[-1], y, atol=1e-10)
    assert RowSpace.of(source, LinearPredictor(40, fit_intercept=False)).interpolant() is None


@pytest.mark.parametrize("model", [th.RobustRegressor(), th.HuberRegressor(alpha=0.01)], ids=str)
@pytest.mark.parametrize("most", [3, 9])  # fewer or more rows than columns after repetition
@pytest.mark.parametrize("fits_exactly", [True, False])
def test_row_weights_equal_repetition(model, most, fits_exactly):
    X, y = wide()
    if not fits_exactly:
        X[1] = X[0]
    weight = np.random.default_rng(2).integers(0, most, 12)
    weight[:2] = 1, 2
    assert (weight == 0).any()
    assert (weight.sum() >= 40) == (most == 9)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(repeated.coef_, weighted.coef_, atol=1e-6)
    assert repeated.intercept_ == pytest.approx(weighted.intercept_, abs=1e-6)
    np.testing.assert_array_equal(repeated.outliers_, weighted.outliers_.repeat(weight))


def test_huber_regression_with_more_columns_than_rows_is_exact_at_once():
    X, y = wide(60, 200)
    model = th.HuberRegressor().fit(X, y)
    assert model.solution_.outcome is th.results.Outcome.EXACT
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert not model.outliers_.any()
    other = th.HuberRegressor().fit(X[:, ::-1], y)  # the order of the columns does not matter
    np.testing.assert_allclose(other.coef_[::-1], model.coef_, atol=1e-10)


def test_robust_regression_with_more_columns_than_rows_needs_no_search():
    X, y = wide(60, 200)
    for loss in ("huber", "tukey"):
        model = th.RobustRegressor(loss).fit(X, y)
        assert model.scale_ == 0.0
        assert model.solution_.steps <= 1
        np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
