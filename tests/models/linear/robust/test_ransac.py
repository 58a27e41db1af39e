"""Random sample consensus: inliers, trials, any model, reasons for skips, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import thetahat as th
from thetahat.models.linear.robust.consensus import r2, trials_needed


def drawn(n=120, d=2, share=0.4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = X @ np.arange(1.0, d + 1) + 2.0 + 0.05 * random.standard_normal(n)
    outliers = random.permutation(n)[: int(share * n)]
    y[outliers] += random.uniform(20.0, 80.0, len(outliers))
    return X, y, np.isin(np.arange(n), outliers, invert=True)


def fitted(X, y, estimator=None, **options):
    return th.RANSACRegressor(
        estimator, **({"residual_threshold": 1.0, "random_state": 0} | options)
    ).fit(X, y)


@pytest.mark.parametrize("loss", ["absolute_error", "squared_error", lambda y, z: abs(y - z)])
def test_inliers_are_found_and_fitted(loss):
    X, y, inliers = drawn()
    model = fitted(X, y, loss=loss)
    np.testing.assert_array_equal(model.inlier_mask_, inliers)
    expected = th.LinearRegression().fit(X[inliers], y[inliers])
    np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))
    usual = X[inliers], y[inliers]
    assert model.score(*usual) == pytest.approx(expected.score(*usual))


def test_planes_at_once_are_the_models_one_by_one():
    """A function that accepts every model makes each a fit of its own, to the same subsets."""
    X, y, inliers = drawn()
    together = fitted(X, y, max_trials=1000)
    by_one = fitted(X, y, max_trials=1000, is_model_valid=lambda *parts: True)
    for model in (together, by_one):
        np.testing.assert_array_equal(model.inlier_mask_, inliers)
        assert model.n_trials_ <= trials_needed(inliers.sum(), 120, 3, 0.99) + 40


@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray])
def test_any_model(kind):
    X, y, inliers = drawn()
    estimator = th.Ridge(1e-3)
    model = fitted(kind(X), y, estimator, min_samples=5, max_trials=100)
    np.testing.assert_array_equal(model.inlier_mask_, inliers)
    assert type(model.estimator_) is type(estimator)


def test_several_targets():
    X, y, inliers = drawn()
    model = fitted(X, np.column_stack([y, -y, X[:, 0]]), residual_threshold=3.0)
    np.testing.assert_array_equal(model.inlier_mask_, inliers)
    assert model.predict(X).shape == (120, 3)


def test_weights_reach_the_model():
    X, y, inliers = drawn()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = th.RANSACRegressor(residual_threshold=1.0, random_state=0).fit(X, y, weight)
    expected = th.LinearRegression().fit(X[inliers], y[inliers], weight[inliers])
    np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)
    with pytest.raises(ValueError, match="does not support sample_weight"):
        th.RANSACRegressor(th.KNeighborsRegressor(), min_samples=20).fit(X, y, weight)


def test_the_search_ends_by_its_rules():
    X, y, _ = drawn()
    assert fitted(X, y, stop_n_inliers=2).n_trials_ == 1
    assert fitted(X, y, stop_score=-1e9).n_trials_ == 1
    assert fitted(X, y, stop_probability=0.0).n_trials_ == 1
    assert fitted(X, y, stop_probability=1.0, max_trials=50).n_trials_ == 50
    assert trials_needed(50, 100, 1, 0.5) == 1
    assert trials_needed(100, 100, 5, 0.99) == 1
    assert trials_needed(1, 100, 10, 1.0) > 1e20
    assert trials_needed(50, 100, 2, 0.99) == 17


def test_skips_are_counted():
    X, y, _ = drawn()
    calls = []

    def every_second(*parts):
        calls.append(parts)
        return len(calls) % 2 == 0

    model = fitted(X, y, is_data_valid=every_second, max_trials=20, stop_probability=1.0)
    assert model.n_skips_invalid_data_ == 10
    calls.clear()
    model = fitted(X, y, is_model_valid=every_second, max_trials=20, stop_probability=1.0)
    assert model.n_skips_invalid_model_ == 10
    assert isinstance(calls[0][0], th.LinearRegression)
    with pytest.warns(ConvergenceWarning, match="max_skips"):
        model = fitted(X, y, max_skips=3, stop_probability=1.0)
    assert model.n_skips_no_inliers_ == 4


def test_no_inliers_are_an_error_with_the_reasons():
    X, y, _ = drawn()
    with pytest.raises(ValueError, match=r"could not find a valid consensus set.*invalid data: 7"):
        fitted(X, y, is_data_valid=lambda *parts: False, max_trials=7)
    with pytest.raises(ValueError, match="skipped more iterations than `max_skips`"):
        fitted(X, y, is_model_valid=lambda *parts: False, max_skips=3)
    with pytest.raises(ValueError, match="could not find"):
        fitted(X, y, max_trials=0)


@pytest.mark.parametrize(
    ("estimator", "options", "error"),
    [
        (None, {"min_samples": 121}, "`min_samples` may not be larger"),
        (None, {"min_samples": 0}, "min_samples=0 must be a whole number ≥ 1"),
        (None, {"min_samples": -1}, "min_samples=-1"),
        (th.Ridge(), {}, "`min_samples` needs to be explicitly set"),
        (None, {"residual_threshold": -1.0}, "residual_threshold=-1.0"),
        (None, {"loss": "huber"}, "loss='huber'"),
        (None, {"stop_probability": 1.5}, "stop_probability=1.5"),
        (None, {"max_trials": -1}, "max_trials=-1"),
    ],
)
def test_bad_input_is_refused(estimator, options, error):
    X, y, _ = drawn()
    with pytest.raises(ValueError, match=error):
        fitted(X, y, estimator, **options)


def test_a_constant_target_and_few_rows():
    X, _, _ = drawn()
    model = th.RANSACRegressor(random_state=0).fit(X, np.full(120, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert r2(np.ones(3), np.ones(3)) == 1.0
    assert r2(np.ones(3), np.zeros(3)) == 0.0
    assert np.isnan(r2(np.ones(1), np.ones(1)))
    with pytest.raises(ValueError, match="larger than number of samples"):
        th.RANSACRegressor().fit(X[:2], [1.0, 2.0])


def test_missing_values_are_left_to_the_model():
    X, y, _ = drawn()
    X[::7, 1] = np.nan
    tree = th.DecisionTreeRegressor(max_depth=3)
    model = fitted(X, y, tree, min_samples=60, residual_threshold=5.0)
    assert np.isfinite(model.predict(X)).all()
    assert get_tags(model).input_tags.allow_nan
    with pytest.raises(ValueError, match=r"missing|NaN"):
        fitted(X, y)
    with pytest.raises(ValueError, match=r"inf"):
        fitted(np.where(np.isnan(X), np.inf, X), y, tree, min_samples=60)


@pytest.mark.parametrize("name", ["loss", "is_data_valid", "is_model_valid"])
def test_a_class_is_no_function(name):
    with pytest.raises(th.errors.ParameterError, match=f"{name}=.* a function, not a class"):
        fitted(*drawn()[:2], **{name: int})


@pytest.mark.parametrize("name", ["is_data_valid", "is_model_valid"])
def test_functions_that_judge_return_true_or_false(name):
    answer = np.array([True, False])
    with pytest.raises(th.errors.ParameterError, match=f"{name} returned array.* True or False"):
        fitted(*drawn()[:2], **{name: lambda *given: answer})


@pytest.mark.parametrize("name", ["max_trials", "max_skips", "stop_score", "stop_n_inliers"])
@pytest.mark.parametrize("value", [np.array([0.5, 0.7]), np.array([np.inf])])
def test_arrays_are_no_limits(name, value):
    with pytest.raises(th.errors.ParameterError, match=f"{name}=array"):
        fitted(*drawn()[:2], **{name: value})
