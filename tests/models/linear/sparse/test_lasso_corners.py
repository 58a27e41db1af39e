"""Lasso and elastic net with crowded, collinear, constant or few rows, and bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.sparse.lasso_data import (
    CROWDED,
    CROWDED_Y,
    DATA,
    TIGHT,
    WIDE,
    WIDE_Y,
    X,
    Y,
    violation,
)


@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("copies", [1, 2])
def test_as_many_columns_in_use_as_there_are_rows(alpha, positive, copies):
    """A small penalty fills the face: columns that depend on others take their places."""
    x, y = np.tile(CROWDED, copies), np.abs(CROWDED_Y) if positive else CROWDED_Y
    model = th.Lasso(alpha, positive=positive, tol=1e-9, max_iter=3000).fit(x, y)
    assert model.solution_.outcome.success
    assert violation(model, x, y, alpha, 1.0, positive=positive) < 1e-4
    assert np.count_nonzero(model.coef_) <= len(y)


@pytest.mark.parametrize("seed", [27, 54, 76, 102, 107])
@pytest.mark.parametrize("alpha", [1e-3, 1e-5, 1e-12])
def test_places_change_without_turning_a_sign(seed, alpha):
    """Every column twice, and β ≥ 0: rounding must not let one through to the other side."""
    random = np.random.default_rng(seed)
    once = random.standard_normal((40, 75))
    x = np.hstack([once, once])[:, random.permutation(150)]
    y = x[:, :5].sum(axis=1) + random.standard_normal(40)
    model = th.Lasso(alpha, positive=True).fit(x, y)
    assert (model.coef_ >= 0).all()
    assert model.solution_.outcome.success
    assert violation(model, x, y, alpha, 1.0, positive=True) < 0.01


@pytest.mark.parametrize(("n", "d", "alpha"), [(60, 10, 1e-5), (200, 40, 1e-5), (40, 100, 0.01)])
@pytest.mark.parametrize("positive", [False, True])
def test_nearly_collinear_pairs(n, d, alpha, positive):
    """Columns in pairs of correlation 1 − 1e-4: many coefficients change sign on the way."""
    for seed in range(0, 10, 2):
        random = np.random.default_rng(seed)
        half = random.standard_normal((n, d // 2))
        noise = random.standard_normal((n, d - d // 2))
        x = np.hstack([half, half + 0.014 * noise])
        y = half[:, :3].sum(axis=1) + 0.5 * random.standard_normal(n)
        model = th.Lasso(alpha=alpha, positive=positive).fit(x, y)  # a warning is an error
        assert model.n_iter_ < 1000
        assert violation(model, x, y, alpha, 1.0, positive=positive) < 1e-8


@pytest.mark.parametrize("shape", [(3, 2), (3, 900)])
def test_a_single_row_that_counts(shape):
    random = np.random.default_rng(199)
    x, y = random.standard_normal(shape), random.standard_normal(3)
    model = th.Lasso(0.1).fit(x, y, sample_weight=np.array([0.0, 0.3, 0.0]))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y[1])


@pytest.mark.parametrize("alpha", [1e-2, 1e-3])
def test_a_small_penalty_is_reached_by_larger_ones(alpha):
    """Straight from zero it takes 300 and 460 sweeps."""
    model = th.LinearModel(penalty=th.penalties.L1(alpha)).fit(CROWDED, CROWDED_Y)
    assert model.solution_.solver == "working_sets"
    assert model.solution_.steps < 200


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("positive", [False, True])
def test_zero_penalty_is_least_squares(shape, positive):
    x, y = DATA[shape]
    model = th.Lasso(0.0, positive=positive).fit(x, y)
    expected = th.LinearRegression(positive=positive).fit(x, y)
    np.testing.assert_allclose(model.predict(x), expected.predict(x), atol=1e-6)
    assert "no L1 penalty" in model.solution_.reason


def test_no_l1_share_is_ridge():
    model = th.ElasticNet(0.5, l1_ratio=0.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, th.Ridge(0.5 * 80).fit(X, Y).coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", DATA)
def test_huge_penalty_leaves_the_mean(shape):
    x, y = DATA[shape]
    model = th.Lasso(1e9).fit(x, y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y.mean())


@pytest.mark.parametrize("shape", DATA)
def test_constant_and_duplicate_columns(shape):
    x, y = DATA[shape]
    doubled = np.column_stack([np.full(len(y), 1e3 / 3), x, x[:, :3]])
    for rows in (doubled, sp.csr_array(doubled)):
        model = th.Lasso(0.05, **TIGHT).fit(rows, y)
        assert model.coef_[0] == 0.0
        assert violation(model, doubled, y, 0.05, 1.0) < 1e-7
    share = th.ElasticNet(0.05, l1_ratio=0.5, **TIGHT).fit(doubled, y)
    np.testing.assert_allclose(share.coef_[1:4], share.coef_[-3:], atol=1e-7)


def test_zero_targets_and_one_row():
    assert not th.Lasso(0.1).fit(X, np.zeros(80)).coef_.any()
    model = th.Lasso(0.1).fit(X[:1], Y[:1])
    assert not model.coef_.any()
    assert model.intercept_ == Y[0]
    assert th.LassoCV(cv=3).fit(X, np.zeros(80)).alpha_ > 0


@pytest.mark.parametrize("shape", DATA)
def test_unscaled_columns(shape):
    x, y = DATA[shape]
    size = np.logspace(-6, 6, x.shape[1])
    model = th.Lasso(1e-3, tol=1e-6).fit(x * size, y)
    peer = sklearn.linear_model.Lasso(1e-3, tol=1e-4, max_iter=100_000).fit(x * size, y)
    ours, theirs = (
        np.mean((y - each.predict(x * size)) ** 2) / 2 + 1e-3 * np.abs(each.coef_).sum()
        for each in (model, peer)
    )
    assert model.solution_.outcome.success
    assert ours <= theirs + model.dual_gap_


def test_all_negative_correlations_with_positive():
    x = np.abs(X)
    y = -x.sum(axis=1)
    model = th.Lasso(0.1, positive=True).fit(x, y)
    assert not model.coef_.any()
    assert th.LassoCV(positive=True, cv=3).fit(x, y).coef_.sum() == 0.0


def test_precompute_is_checked_and_used():
    centred = X - X.mean(axis=0)
    gram = centred.T @ centred
    model = th.Lasso(0.1, precompute=gram, **TIGHT).fit(X, Y)
    np.testing.assert_allclose(model.coef_, th.Lasso(0.1, **TIGHT).fit(X, Y).coef_, atol=1e-9)
    with pytest.raises(th.errors.ParameterError, match=r"precompute has shape \(5, 5\)"):
        th.Lasso(0.1, precompute=gram[:5, :5]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"did not pass validation: entry \(0, 0\)"):
        th.Lasso(0.1, precompute=X.T @ X).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="not symmetric"):
        th.Lasso(0.1, precompute=gram + np.triu(np.ones((6, 6)), 1)).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="precompute='yes' must be True, False"):
        th.Lasso(0.1, precompute="yes").fit(X, Y)


def test_parameters_out_of_range():
    with pytest.raises(th.errors.ParameterError, match="alpha=-1 must be a number ≥ 0"):
        th.Lasso(-1).fit(X, Y)
    for share in (-0.1, 1.5, "half"):
        with pytest.raises(th.errors.ParameterError, match=r"l1_ratio=.* from 0 to 1"):
            th.ElasticNet(l1_ratio=share).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="selection"):
        th.Lasso(selection="greedy").fit(X, Y)


@pytest.mark.parametrize("name", ["Lasso", "MultiTaskLasso"])
def test_a_time_limit_keeps_what_was_found(name):
    y = np.column_stack([WIDE_Y, WIDE[:, 0]]) if name == "MultiTaskLasso" else WIDE_Y
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = getattr(th, name)(1e-3, tol=1e-14).fit(WIDE, y)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
    assert model.solution_.value < np.mean((y - y.mean(axis=0)) ** 2)
    assert model.coef_.any()


def test_too_few_sweeps_are_reported():
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = th.Lasso(1e-3, max_iter=1, tol=1e-12).fit(WIDE, WIDE_Y)
    assert model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED
    assert model.n_iter_ == 1


def test_wide_data_with_bad_entries_are_refused():
    bad = WIDE.copy()
    bad[3, 7] = np.nan
    for rows in (bad, sp.csr_array(bad)):
        with pytest.raises(th.errors.DataError, match="NaN"):
            th.Lasso().fit(rows, WIDE_Y)
    with pytest.raises(th.errors.DataError, match="squares overflow"):
        th.Lasso().fit(np.where(np.arange(700) == 3, 1e200 * WIDE, WIDE), WIDE_Y)


@pytest.mark.parametrize("columns", [5, 40])
def test_folds_without_time_are_left_out_and_reported(columns):
    random = np.random.default_rng(0)
    x = random.standard_normal((30, columns))
    y = x[:, 0] + 0.1 * random.standard_normal(30)
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.LassoCV(cv=3).fit(x, y)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
    assert np.isfinite(model.mse_path_[:, 0]).all()
    assert np.isnan(model.mse_path_[:, -1]).all()
    assert model.alpha_ == model.alphas_[model.mse_path_[:, 0].argmin()]


def test_a_warm_start_that_is_optimal_takes_no_iteration():
    random = np.random.default_rng(0)
    X, noise = random.normal(size=(50, 20)), random.normal(size=50)
    model = th.Lasso(alpha=0.05, warm_start=True)
    assert model.fit(X, X[:, 0] + noise).n_iter_ > 0
    assert model.fit(X, X[:, 0] + noise).n_iter_ == 0
