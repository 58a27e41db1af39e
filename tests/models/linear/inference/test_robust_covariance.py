"""Robust standard errors of least squares: HC0 to HC3 as in statsmodels."""

import numpy as np
import pytest
import scipy.sparse
import statsmodels.api

import thetahat as th

RANDOM = np.random.default_rng(0)
X = np.array([0.0, 4.0, -2.0]) + RANDOM.standard_normal((80, 3))
Y = X @ [1.0, 0.0, -2.0] + 4.0 + np.exp(X[:, 0]) * RANDOM.standard_normal(80)
WEIGHT = RANDOM.integers(1, 4, 80).astype(float)
KINDS = ("HC0", "HC1", "HC2", "HC3")


def errors(summary):
    return np.array([line.standard_error for line in summary.coefficients])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_equals_statsmodels(kind, intercept):
    design = statsmodels.api.add_constant(X) if intercept else X
    peer = statsmodels.api.OLS(Y, design).fit(cov_type=kind, use_t=True)
    model = th.LinearRegression(fit_intercept=intercept).fit(X, Y)
    summary = model.summary(X, Y, covariance=kind)
    np.testing.assert_allclose(errors(summary), peer.bse, rtol=1e-9)
    bounds = np.array([[line.low, line.high] for line in summary.coefficients])
    np.testing.assert_allclose(bounds, peer.conf_int(), rtol=1e-8)
    assert summary.f == pytest.approx(peer.fvalue)
    assert summary.f_p == pytest.approx(peer.f_pvalue, rel=1e-6)
    assert kind in str(summary)


@pytest.mark.parametrize("kind", KINDS)
def test_precision_weights_are_weighted_least_squares(kind):
    peer = statsmodels.api.WLS(Y, statsmodels.api.add_constant(X), weights=WEIGHT).fit(
        cov_type=kind
    )
    model = th.LinearRegression().fit(X, Y, WEIGHT)
    summary = model.summary(X, Y, WEIGHT, covariance=kind, weights="precision")
    np.testing.assert_allclose(errors(summary), peer.bse, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_frequency_weights_are_repetition(kind):
    rows = np.repeat(np.arange(80), WEIGHT.astype(int))
    weighted = th.LinearRegression().fit(X, Y, WEIGHT).summary(X, Y, WEIGHT, covariance=kind)
    repeated = (
        th.LinearRegression().fit(X[rows], Y[rows]).summary(X[rows], Y[rows], covariance=kind)
    )
    np.testing.assert_allclose(errors(weighted), errors(repeated), rtol=1e-9)


def test_files_sparse_rows_and_several_targets(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    source = th.scan(tmp_path / "rows.npy", target=3)
    expected = errors(th.LinearRegression().fit(X, Y).summary(X, Y, covariance="HC2"))
    found = th.LinearRegression().fit(source).summary(source, covariance="HC2")
    np.testing.assert_allclose(errors(found), expected, rtol=1e-9)
    sparse = scipy.sparse.csr_array(X)
    found = th.LinearRegression().fit(sparse, Y).summary(sparse, Y, covariance="HC2")
    np.testing.assert_allclose(errors(found), expected, rtol=1e-9)
    both = np.column_stack([3 * Y + X[:, 0], Y])
    found = th.LinearRegression().fit(X, both).summary(X, both, covariance="HC2", output=1)
    np.testing.assert_allclose(errors(found), expected, rtol=1e-9)


def test_columns_far_from_zero_keep_their_digits():
    near = th.LinearRegression().fit(X, Y).summary(X, Y, covariance="HC3")
    far = th.LinearRegression().fit(X + 1e6, Y).summary(X + 1e6, Y, covariance="HC3")
    np.testing.assert_allclose(errors(far)[1:], errors(near)[1:], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_fixes_a_coefficient_by_itself(kind):
    alone = np.column_stack([X, np.arange(80) == 7])
    model, others = th.LinearRegression().fit(alone, Y), np.arange(80) != 7
    with pytest.warns(UserWarning, match=r"1 row\(s\) alone .*leverage 1.* 'x3' are too small"):
        found = errors(model.summary(alone, Y, covariance=kind))
    # For the other coefficients the row does not exist.
    without = th.LinearRegression().fit(X[others], Y[others])
    expected = errors(without.summary(X[others], Y[others], covariance=kind))
    if kind == "HC1":
        expected *= np.sqrt(80 / 79)
    np.testing.assert_allclose(found[:4], expected, rtol=1e-9)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
def test_a_row_that_fixes_a_rate_by_itself(kind):
    counts = np.random.default_rng(1).poisson(np.exp(0.1 * X[:, 0] + 1.0)).astype(float)
    counts[7] = 4.0
    rows, others = np.column_stack([X, np.arange(80) == 7]), np.arange(80) != 7
    model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(rows, counts)
    with pytest.warns(UserWarning, match=r"PoissonRegressor: 1 row.*'x3'"):
        found = errors(model.summary(rows, counts, covariance=kind))
    without = th.PoissonRegressor(alpha=0.0, solver="newton").fit(X[others], counts[others])
    expected = errors(without.summary(X[others], counts[others], covariance=kind))
    np.testing.assert_allclose(found[:4], expected, rtol=1e-6)
    assert found[4] < 1.0


def test_weights_below_one_are_no_counts_of_rows():
    weight = np.full(80, 0.1)
    weight[0], rows = 0.01, X.copy()
    rows[0, 0] = 60.0
    model = th.LinearRegression().fit(rows, Y, weight)
    with pytest.raises(th.errors.CapabilityError, match=r"weight 0\.01 .*weights='precision'"):
        model.summary(rows, Y, weight, covariance="HC3")
    precise = model.summary(rows, Y, weight, covariance="HC3", weights="precision")
    scaled = th.LinearRegression().fit(rows, Y, 100 * weight)
    again = scaled.summary(rows, Y, 100 * weight, covariance="HC3", weights="precision")
    np.testing.assert_allclose(errors(precise), errors(again), rtol=1e-9)


def test_refusals():
    model = th.LinearRegression().fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match=r"summary\(X, y, covariance='HC1'\)"):
        model.summary(covariance="HC1")
    for output in (1, -1, 0.5, "y"):
        with pytest.raises(th.errors.ParameterError, match=r"output=.* has 1 target\."):
            model.summary(output=output)
    with pytest.raises(th.errors.ParameterError, match="covariance='white'"):
        model.summary(covariance="white")
    with pytest.raises(th.errors.DataError, match="not the rows of fit"):
        model.summary(X[::-1], Y, covariance="HC1")
    with pytest.raises(th.errors.DataError, match="not the rows of fit"):
        model.summary(X[:-1], Y[:-1], covariance="HC1")
