"""Medians of planes: scikit-learn's, the optimum, outliers, subsets, bad input."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import linear_model

import thetahat as th
from thetahat.objective.robust.row_subsets import all_subsets, planes_through, random_subsets
from thetahat.objective.robust.spatial_median import Distances


def drawn(n=30, d=2, outliers=3):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = X @ np.arange(1.0, d + 1) + 2.0 + 0.1 * random.standard_normal(n)
    y[:outliers] += 100.0
    return X, y


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "through 0"])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("size", [None, 4])
def test_all_subsets_give_the_fit_of_scikit_learn(intercept, d, size):
    X, y = drawn(18, d)
    options = {"fit_intercept": intercept, "n_subsamples": size, "random_state": 0}
    ours = th.TheilSenRegressor(**options).fit(X, y)
    theirs = linear_model.TheilSenRegressor(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-7)
    assert ours.breakdown_ == pytest.approx(theirs.breakdown_)
    assert ours.n_subpopulation_ == theirs.n_subpopulation_


def test_the_median_has_the_smallest_sum_of_distances():
    X, y = drawn(15)
    model = th.TheilSenRegressor(tol=1e-10, max_iter=10_000).fit(X, y)
    A = np.column_stack([np.ones(15), X])
    planes = np.array([np.linalg.solve(A[[*s]], y[[*s]]) for s in combinations(range(15), 3)])
    found = minimize(
        lambda theta: Distances(planes).lengths(theta).sum(), np.array([2.0, 1.0, 2.0]),
        method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )  # fmt: skip
    assert model.solution_.value <= found.fun * (1 + 1e-8)
    np.testing.assert_allclose([model.intercept_, *model.coef_], found.x, atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(60, 1), (500, 5)])
def test_outliers_do_not_move_the_fit(n, d):
    X, y = drawn(n, d, outliers=n // 20)
    model = th.TheilSenRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.arange(1.0, d + 1), atol=0.1)
    assert model.n_subpopulation_ <= 10_000


def test_a_seed_gives_the_same_fit_in_either_precision():
    X, y = drawn(200, 4)
    model = th.TheilSenRegressor(max_subpopulation=300, random_state=3)
    first = model.fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)
    single = model.fit(X.astype(np.float32), y).coef_
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, first, atol=1e-4)


@pytest.mark.parametrize(("n", "size"), [(1000, 3), (12, 6), (7, 7), (5, 1)])
def test_random_subsets_have_no_row_twice(n, size):
    subsets = random_subsets(n, size, 400, np.random.default_rng(0))
    assert subsets.shape == (400, size)
    assert subsets.min() >= 0
    assert subsets.max() < n
    assert all(len(set(each)) == size for each in subsets.tolist())
    counts = np.bincount(subsets.ravel(), minlength=n)
    assert counts.std() < 4 * np.sqrt(400 * size / n)


def test_subsets_that_determine_no_plane_get_the_one_of_least_norm():
    A = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0 + 1e-300]])
    y = np.array([1.0, 1.0, 2.0, 2.0])
    subsets = all_subsets(4, 2, 6)
    expected = np.array([np.linalg.lstsq(A[each], y[each])[0] for each in subsets])
    np.testing.assert_allclose(planes_through(A, y, subsets), expected, atol=1e-12)
    several = planes_through(A, np.column_stack([y, 2 * y]), subsets)
    np.testing.assert_allclose(several[:, :, 1], 2 * expected, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "options", "error"),
    [
        ((10, 2), {"n_subsamples": 11}, "n_subsamples > n_samples"),
        ((10, 2), {"n_subsamples": 2}, r"n_features\+1 > n_subsamples"),
        ((10, 2), {"n_subsamples": 1, "fit_intercept": False}, "n_features > n_subsamples"),
        ((3, 5), {"n_subsamples": 2}, "n_subsamples != n_samples"),
        ((10, 2), {"max_subpopulation": 0}, "max_subpopulation=0"),
        ((10, 2), {"max_subpopulation": np.inf}, "max_subpopulation=inf"),
        ((10, 2), {"tol": -1.0}, "tol=-1.0"),
    ],
)
def test_bad_input_is_refused(shape, options, error):
    X, y = drawn(*shape, outliers=0)
    with pytest.raises(ValueError, match=error):
        th.TheilSenRegressor(**options).fit(X, y)


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (3, 8), (4, 3)])
def test_few_rows(shape):
    X, y = drawn(*shape, outliers=0)
    model = th.TheilSenRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_repeated_rows_do_not_stop_the_fit():
    X, y = drawn(20, 2, outliers=0)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    model = th.TheilSenRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0], atol=0.2)


@pytest.mark.parametrize("unit", [1e-200, 1e-150, 1e-5, 1e5, 1e150, 1e200])
def test_the_median_does_not_depend_on_the_unit_of_the_target(unit):
    X, y = drawn(40, 2)
    exact = {"tol": 1e-9, "max_iter": 2000, "random_state": 0}
    plain = th.TheilSenRegressor(**exact).fit(X, y)
    scaled = th.TheilSenRegressor(**exact).fit(X, y * unit)
    np.testing.assert_allclose(scaled.coef_ / unit, plain.coef_, rtol=1e-6)
    assert scaled.intercept_ / unit == pytest.approx(plain.intercept_, rel=1e-6)


@pytest.mark.parametrize("units", [(1e-120, 1e120), (1e-140, 1e-140), (1e150, 1e150), (1e-20, 1.0)])
def test_columns_in_extreme_units_keep_their_coefficients(units):
    X = np.random.default_rng(5).standard_normal((40, 2))
    y = X @ [1.0, 2.0] + 3.0
    y[:4] += 100.0
    model = th.TheilSenRegressor(random_state=0, tol=1e-9, max_iter=2000).fit(X * units, y)
    np.testing.assert_allclose(model.coef_ * units, [1.0, 2.0], rtol=1e-5)


@pytest.mark.parametrize("size", [1e100, 1e160, 1e299])
def test_one_extreme_target_is_an_outlier_like_any_other(size):
    X, y = drawn(40, 2, outliers=0)
    y[7] = 1e6
    far = th.TheilSenRegressor(random_state=0, tol=1e-9, max_iter=2000).fit(X, y)
    y[7] = size
    model = th.TheilSenRegressor(random_state=0, tol=1e-9, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(model.coef_, far.coef_, rtol=1e-3)
