"""Standard errors, tests and intervals, against statsmodels, certified values and simulation."""

import numpy as np
import pytest
import statsmodels.api

import thetahat as th
from tests.repeats import repeated

RANDOM = np.random.default_rng(0)
X = np.array([0, 5, -2]) + RANDOM.standard_normal((120, 3))
Y = X @ [1.0, 0.0, -2.0] + 4.0 + 1.5 * RANDOM.standard_normal(120)
WEIGHT = RANDOM.integers(1, 5, 120).astype(float)


def columns(summary, field):
    return [getattr(c, field) for c in summary.coefficients]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["auto", "qr", "svd", "cholesky"])
def test_summary_equals_statsmodels(intercept, solver):
    design = statsmodels.api.add_constant(X) if intercept else X
    peer = statsmodels.api.OLS(Y, design).fit()
    model = th.LinearRegression(fit_intercept=intercept, solver=solver).fit(X, Y)
    summary = model.summary(level=0.9)
    np.testing.assert_allclose(columns(summary, "standard_error"), peer.bse, rtol=1e-9)
    np.testing.assert_allclose(columns(summary, "t"), peer.tvalues, rtol=1e-9)
    np.testing.assert_allclose(columns(summary, "p"), peer.pvalues, rtol=1e-7)
    bounds = np.column_stack([columns(summary, "low"), columns(summary, "high")])
    np.testing.assert_allclose(bounds, peer.conf_int(0.1), rtol=1e-8)
    assert summary.r2 == pytest.approx(peer.rsquared)
    assert summary.adjusted_r2 == pytest.approx(peer.rsquared_adj)
    assert summary.f == pytest.approx(peer.fvalue)
    assert summary.f_p == pytest.approx(peer.f_pvalue, rel=1e-6)
    assert summary.log_likelihood == pytest.approx(peer.llf)
    assert summary.aic == pytest.approx(peer.aic)
    assert summary.bic == pytest.approx(peer.bic)
    assert summary.sigma**2 == pytest.approx(peer.mse_resid)


def test_log_likelihood_is_its_formula():
    """ols.model: ℓ = −(n/2)log2π − n log σ − Σ(y − ŷ)²/2σ², at the likelihood's own σ."""
    model = th.LinearRegression().fit(X, Y)
    summary, residual = model.summary(), Y - model.predict(X)
    n, sigma = 120, summary.sigma_mle
    assert sigma**2 == pytest.approx((residual**2).mean())
    expected = -n / 2 * np.log(2 * np.pi) - n * np.log(sigma) - (residual**2).sum() / 2 / sigma**2
    assert summary.log_likelihood == pytest.approx(expected)


def test_frequency_weights_are_repetition():
    rows = np.repeat(np.arange(120), WEIGHT.astype(int))
    weighted = th.LinearRegression().fit(X, Y, WEIGHT).summary(weights="frequency")
    repeated = th.LinearRegression().fit(X[rows], Y[rows]).summary()
    for field in ("estimate", "standard_error", "p", "low"):
        np.testing.assert_allclose(columns(weighted, field), columns(repeated, field), rtol=1e-8)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)


def test_precision_weights_are_weighted_least_squares():
    peer = statsmodels.api.WLS(Y, statsmodels.api.add_constant(X), weights=WEIGHT).fit()
    summary = th.LinearRegression().fit(X, Y, WEIGHT).summary(weights="precision")
    np.testing.assert_allclose(columns(summary, "standard_error"), peer.bse, rtol=1e-9)
    assert "precision weights" in str(summary)
    assert summary.log_likelihood == pytest.approx(peer.llf)
    assert summary.aic == pytest.approx(peer.aic)
    assert summary.bic == pytest.approx(peer.bic)


@pytest.mark.parametrize("intercept", [True, False])
def test_intervals_equal_statsmodels(intercept):
    design = statsmodels.api.add_constant(X) if intercept else X
    frame = statsmodels.api.OLS(Y, design).fit().get_prediction(design[:7]).summary_frame(0.05)
    model = th.LinearRegression(fit_intercept=intercept).fit(X, Y)
    low, high = model.predict_interval(X[:7], kind="confidence")
    np.testing.assert_allclose(low, frame["mean_ci_lower"])
    np.testing.assert_allclose(high, frame["mean_ci_upper"])
    low, high = model.predict_interval(X[:7])
    np.testing.assert_allclose(low, frame["obs_ci_lower"])
    np.testing.assert_allclose(high, frame["obs_ci_upper"])


def test_intervals_of_files_and_sparse_rows(tmp_path):
    import scipy.sparse

    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    source = th.scan(tmp_path / "rows.npy", target=3)
    expected = th.LinearRegression().fit(X, Y).predict_interval(X)
    for rows in (source, scipy.sparse.csr_array(X)):
        model = th.LinearRegression().fit(rows) if rows is source else th.LinearRegression().fit(
            rows, Y)  # fmt: skip
        np.testing.assert_allclose(model.predict_interval(rows), expected, rtol=1e-9)


def test_several_targets_have_their_own_summaries():
    targets = np.column_stack([Y, 3 * Y + X[:, 0]])
    model = th.LinearRegression().fit(X, targets)
    single = th.LinearRegression().fit(X, targets[:, 1]).summary()
    np.testing.assert_allclose(
        columns(model.summary(output=1), "standard_error"), columns(single, "standard_error")
    )
    assert model.predict_interval(X)[0].shape == targets.shape


@pytest.mark.parametrize("make", [th.datasets.load_longley, th.datasets.filip])
def test_certified_standard_errors(make):
    data = make()
    summary = th.LinearRegression().fit(data.X, data.y).summary()
    np.testing.assert_allclose(columns(summary, "standard_error"), data.standard_errors, rtol=1e-5)


@repeated(200, 600)
def test_coverage_of_coefficients_and_predictions(repeats):
    """Over repetitions, 95% intervals cover the truth 95% of the time (binomial tolerance)."""
    hits, new = np.zeros(4), 0
    beta, random = np.array([2.0, -1.0, 0.5]), np.random.default_rng(5)
    design = random.standard_normal((25, 3))
    for _ in range(repeats):
        y = design @ beta + 1.0 + random.standard_normal(25)
        model = th.LinearRegression().fit(design, y)
        summary = model.summary()
        truth = np.r_[1.0, beta]
        low, high = np.array(columns(summary, "low")), np.array(columns(summary, "high"))
        hits += (low <= truth) & (truth <= high)
        low, high = model.predict_interval([[0.3, -1.0, 2.0]])
        new += low[0] <= 2 * 0.3 + 1.0 + 1.0 + 1.0 + random.standard_normal() <= high[0]
    tolerance = 3.5 * np.sqrt(0.95 * 0.05 / repeats)
    assert np.abs(hits / repeats - 0.95).max() < tolerance
    assert abs(new / repeats - 0.95) < tolerance


@repeated(250, 2000)
def test_unbiased_and_likelihood_variance(repeats):
    """ols.inference: E σ̂² = σ² for RSS/(n−p), and (n−p)/n·σ² for RSS/n; E β̂ = β*."""
    random, design = np.random.default_rng(3), np.random.default_rng(4).standard_normal((8, 2))
    unbiased, likelihood, slopes = [], [], []
    for _ in range(repeats):
        model = th.LinearRegression().fit(design, design @ [1.0, 2.0] + random.standard_normal(8))
        summary = model.summary()
        unbiased.append(summary.sigma**2)
        likelihood.append(summary.sigma_mle**2)
        slopes.append(model.coef_)
    noise = np.sqrt(2000 / repeats)
    assert np.mean(unbiased) == pytest.approx(1.0, abs=0.06 * noise)
    assert np.mean(likelihood) == pytest.approx(5 / 8, abs=0.05 * noise)
    np.testing.assert_allclose(np.mean(slopes, axis=0), [1.0, 2.0], atol=0.05 * noise)
    centred = design - design.mean(axis=0)
    np.testing.assert_allclose(
        np.cov(np.transpose(slopes)),
        np.linalg.inv(centred.T @ centred),
        rtol=0.15 * noise,
        atol=0.01 * noise,
    )


def test_prints_well():
    import pandas

    model = th.LinearRegression().fit(pandas.DataFrame(X, columns=["age", "income", "x"]), Y)
    text = str(model.summary())
    assert "income" in text
    assert "95% from" in text
    assert len({len(line) for line in text.splitlines() if line.startswith("─")}) == 1
    assert max(map(len, text.splitlines())) <= 100
    assert model.summary()._repr_html_().startswith("<table>")
    assert model.summary()["age"].estimate == pytest.approx(model.coef_[0])


def test_refusals_give_a_way_out():
    dependent = np.column_stack([X, X[:, 0]])
    with pytest.raises(th.errors.CapabilityError, match=r"4 columns but rank 3.*Drop"):
        th.LinearRegression().fit(dependent, Y).summary()
    with pytest.raises(th.errors.CapabilityError, match="more rows than parameters"):
        th.LinearRegression().fit(X[:4], Y[:4]).summary()
    with pytest.raises(th.errors.CapabilityError, match="does not compute"):
        th.LinearRegression(solver="lsqr").fit(X, Y).summary()
    model = th.LinearRegression().fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="level=95"):
        model.summary(level=95)
    with pytest.raises(th.errors.ParameterError, match="kind='both'"):
        model.predict_interval(X, kind="both")
    with pytest.raises(th.errors.ParameterError, match="weights='count'"):
        model.summary(weights="count")


def test_intervals_of_dependent_columns_are_refused():
    X = np.column_stack([np.arange(6.0), 2 * np.arange(6.0)])
    model = th.LinearRegression().fit(X, [0.0, 1.0, 1.5, 3.0, 4.5, 5.0])
    with pytest.raises(th.errors.CapabilityError, match="2 columns but rank 1"):
        model.predict_interval(X)


@pytest.mark.parametrize("noise", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_precise_measurements_keep_the_digits_of_sigma(noise, weight, tmp_path):
    error = np.random.default_rng(5).standard_normal(120)
    y = X @ [1.0, 2.0, 3.0] + 7.0 + noise * error
    found = th.LinearRegression().fit(X, y, weight).summary().sigma
    assert found == pytest.approx(
        th.LinearRegression(solver="qr").fit(X, y, weight).summary().sigma, rel=1e-5
    )
    low, high = th.LinearRegression().fit(X, y, weight).predict_interval(X[:1])
    assert 0 < high[0] - low[0] < 10 * noise
    if weight is None:
        np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
        source = th.scan(tmp_path / "rows.npy", target=3)
        assert th.LinearRegression().fit(source).summary().sigma == pytest.approx(found, rel=1e-9)


def test_exact_and_constant_targets_have_a_summary():
    line = np.arange(6.0)[:, None]
    exact = th.LinearRegression().fit(line, 2.0 * line[:, 0] + 1.0).summary()
    assert (exact.sigma, exact.r2, exact.f, exact.f_p) == (0.0, 1.0, np.inf, 0.0)
    assert "the fit is exact" in str(exact)
    near = th.LinearRegression().fit(X, X @ [1.0, 2.0, 3.0]).summary()
    assert near.sigma < 1e-13
    assert near.r2 == 1.0
    for level in (1.0, 0.1, 0.0):
        constant = th.LinearRegression().fit(X, np.full(120, level)).summary()
        assert constant.sigma == 0
        assert np.isnan([constant.r2, constant.f]).all()
        assert "y is constant" in str(constant)


def test_levels_are_numbers():
    with pytest.raises(th.errors.ParameterError, match="level='a' must lie strictly between"):
        th.LinearRegression().fit(X, Y).summary(level="a")


class TestCovariance:
    random = np.random.default_rng(4)
    X = random.standard_normal((40, 3)) + 5.0
    Y = X @ [[1.0, 0.0], [2.0, -1.0], [0.0, 3.0]] + random.standard_normal((40, 2))

    @pytest.mark.parametrize("intercept", [True, False])
    def test_is_the_one_of_the_textbook(self, intercept):
        model = th.LinearRegression(fit_intercept=intercept).fit(self.X, self.Y[:, 0])
        full = np.column_stack([self.X, np.ones(40)]) if intercept else self.X
        residual = self.Y[:, 0] - model.predict(self.X)
        sigma2 = residual @ residual / (40 - full.shape[1])
        expected = sigma2 * np.linalg.inv(full.T @ full)
        np.testing.assert_allclose(model.covariance_, expected, rtol=1e-8)
        summary = model.summary()
        shifted = np.roll(expected, (1, 1), axis=(0, 1)) if intercept else expected
        np.testing.assert_allclose(summary.covariance, shifted, rtol=1e-8)
        assert summary.covariance_kind == "model"

    def test_of_several_targets(self):
        both = th.LinearRegression().fit(self.X, self.Y)
        alone = [th.LinearRegression().fit(self.X, y).covariance_ for y in self.Y.T]
        np.testing.assert_allclose(both.covariance_, alone, rtol=1e-9)
        assert "target 1 of 2" in str(both.summary(output=1))
        assert "target" not in str(th.LinearRegression().fit(self.X, self.Y[:, 0]).summary())

    def test_of_a_likelihood(self):
        model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(self.X, np.arange(40) % 7)
        summary = model.summary()
        errors = [line.standard_error for line in summary.coefficients]
        np.testing.assert_allclose(np.sqrt(np.diagonal(summary.covariance)), errors)

    def test_small_weights_point_to_precisions(self):
        model = th.LinearRegression().fit(self.X, self.Y[:, 0], np.full(40, 0.01))
        with pytest.raises(th.errors.CapabilityError, match=r'40 rows, pass weights="precision"'):
            model.predict_interval(self.X)
        low, high = model.predict_interval(self.X, weights="precision")
        assert (low < high).all()


@pytest.mark.parametrize("kind", [th.LinearRegression, th.GeneralizedLeastSquares])
def test_more_columns_than_rows_are_no_matter_of_the_solver(kind):
    wide = np.random.default_rng(0).standard_normal((4, 6))
    model = kind().fit(wide, wide[:, 0])
    with pytest.raises(th.errors.CapabilityError, match=r"6 columns but rank 3.*Add rows"):
        model.summary()
    with pytest.raises(th.errors.CapabilityError, match=r"6 columns but rank 3.*Add rows"):
        model.predict_interval(wide)
    tall = kind(solver="dual").fit(wide.T, wide[0])
    with pytest.raises(th.errors.CapabilityError, match=r"solver='dual' .*solver=\"auto\""):
        tall.summary()
