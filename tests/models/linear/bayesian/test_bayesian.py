"""BayesianLinearRegression: the posterior of the lecture, its limits, its evidence."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal

import thetahat as th
from tests.repeats import repeated

RANDOM = np.random.default_rng(0)
N, D = 40, 3
X = np.array([0.0, 5.0, -2.0]) + RANDOM.standard_normal((N, D))
SIGMA = RANDOM.uniform(0.5, 2.0, N)
Y = X @ [1.0, 0.5, -2.0] + 1.0 + SIGMA * RANDOM.standard_normal(N)
FULL = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 4.0]])


def by_hand(X, y, sigma, mean, covariance):
    """A = Σ xxᵀ/σᵢ² + S₀⁻¹, B = Σ yx/σᵢ² + S₀⁻¹μ₀, as the lecture writes them."""
    precision = np.linalg.inv(covariance)
    A, B = precision.copy(), precision @ mean
    for x, target, s in zip(X, y, sigma, strict=True):
        A += np.outer(x, x) / s**2
        B += target * x / s**2
    return np.linalg.solve(A, B), np.linalg.inv(A)


@pytest.mark.parametrize(
    ("given", "matrix"),
    [(4.0, 4.0 * np.eye(D)), ([1.0, 2.0, 3.0], np.diag([1.0, 2.0, 3.0])), (FULL, FULL)],
    ids=["scalar", "diagonal", "full"],
)
def test_posterior_is_that_of_the_lecture(given, matrix):
    prior_mean = np.array([0.5, -1.0, 2.0])
    model = th.BayesianLinearRegression(prior_mean, given, fit_intercept=False)
    model.fit(X, Y, noise=SIGMA)
    mean, covariance = by_hand(X, Y, SIGMA, prior_mean, matrix)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-10)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.coef_, model.mean_)
    cloud = np.diag(SIGMA**2) + X @ matrix @ X.T
    expected = multivariate_normal.logpdf(Y, X @ prior_mean, cloud)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-10)


def test_an_intercept_with_a_prior_is_a_column_of_ones():
    design = np.column_stack([X, np.ones(N)])
    model = th.BayesianLinearRegression(0.5, 4.0, intercept_prior=(1.0, 9.0))
    model.fit(X, Y, noise=SIGMA)
    mean, covariance = by_hand(
        design, Y, SIGMA, np.array([0.5, 0.5, 0.5, 1.0]), np.diag([4.0, 4.0, 4.0, 9.0])
    )
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-8, atol=1e-12)
    assert model.intercept_ == pytest.approx(mean[-1])


def test_a_flat_intercept_is_the_limit_of_a_wide_one():
    flat = th.BayesianLinearRegression(0.5, 4.0).fit(X, Y, noise=SIGMA)
    wide = th.BayesianLinearRegression(0.5, 4.0, intercept_prior=(0.0, 1e8))
    wide.fit(X, Y, noise=SIGMA)
    np.testing.assert_allclose(flat.mean_, wide.mean_, rtol=1e-5)
    np.testing.assert_allclose(flat.covariance_, wide.covariance_, rtol=1e-4, atol=1e-8)
    # The flat prior counts as the density 1 where the wide one has 1/√(2π·1e8).
    assert flat.log_evidence_ == pytest.approx(
        wide.log_evidence_ + 0.5 * np.log(2 * np.pi * 1e8), abs=1e-5
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_flat_prior_is_least_squares(intercept):
    """bayes.linreg: the flat-prior limit is ordinary least squares, σ² included."""
    bayes = th.BayesianLinearRegression(prior_covariance=None, fit_intercept=intercept).fit(X, Y)
    plain = th.LinearRegression(fit_intercept=intercept).fit(X, Y)
    summary = plain.summary()
    np.testing.assert_allclose(bayes.coef_, plain.coef_, rtol=1e-10)
    assert bayes.intercept_ == pytest.approx(plain.intercept_)
    assert bayes.noise_ == pytest.approx(summary.sigma, rel=1e-10)
    errors = [line.standard_error for line in summary.coefficients]
    deviations = [line.standard_deviation for line in bayes.summary().coefficients]
    np.testing.assert_allclose(deviations, errors, rtol=1e-9)
    known = th.BayesianLinearRegression(prior_covariance=None).fit(X, Y, noise=SIGMA)
    weighted = th.GeneralizedLeastSquares().fit(X, Y, noise=SIGMA)
    np.testing.assert_allclose(known.coef_, weighted.coef_, rtol=1e-10)


def test_wide_priors_tend_to_least_squares_and_narrow_ones_to_the_prior():
    plain = th.LinearRegression().fit(X, Y)
    wide = th.BayesianLinearRegression(3.0, 1e9, noise=1.0).fit(X, Y)
    np.testing.assert_allclose(wide.coef_, plain.coef_, rtol=1e-6)
    narrow = th.BayesianLinearRegression(3.0, 1e-9, noise=1.0).fit(X, Y)
    np.testing.assert_allclose(narrow.coef_, 3.0, rtol=1e-6)


def test_normal_prior_is_ridge():
    """bayes.map: the posterior mean under N(0, s²) with noise σ is ridge with α = σ²/s²."""
    bayes = th.BayesianLinearRegression(0.0, 0.25, noise=1.5).fit(X, Y)
    ridge = th.Ridge(alpha=1.5**2 / 0.25).fit(X, Y)
    np.testing.assert_allclose(bayes.coef_, ridge.coef_, rtol=1e-10)


def test_one_unknown_mean_is_the_normal_normal_update():
    """bayes.normal: prior N(30, 10²), times 25, 45, 30, 50 with σ = 5: N(630/17, 100/17)."""
    model = th.BayesianLinearRegression(30.0, 100.0, noise=5.0, fit_intercept=False)
    model.fit(np.ones((4, 1)), [25.0, 45.0, 30.0, 50.0])
    assert model.mean_[0] == pytest.approx(37.058824, abs=1e-6)
    assert model.covariance_[0, 0] == pytest.approx(5.882353, abs=1e-6)


def test_some_coefficients_known_some_free():
    """Variance 0 pins a coefficient, ∞ leaves it to the data alone."""
    prior = np.array([0.0, 4.0, np.inf])
    model = th.BayesianLinearRegression([1.0, 0.0, 0.0], prior, noise=1.0).fit(X, Y)
    assert model.coef_[0] == 1.0
    assert model.covariance_[0, 0] == 0.0
    limit = th.BayesianLinearRegression([1.0, 0.0, 0.0], [1e-12, 4.0, 1e7], noise=1.0).fit(X, Y)
    np.testing.assert_allclose(model.mean_, limit.mean_, rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, limit.covariance_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("n_flat", [1, 3])
def test_evidence_of_flat_coefficients_is_a_limit_too(n_flat):
    flat, wide = np.ones(D), np.ones(D)
    flat[:n_flat], wide[:n_flat] = np.inf, 1e7
    free, almost = (
        th.BayesianLinearRegression(0.5, prior, noise=1.5).fit(X, Y) for prior in (flat, wide)
    )
    density = 0.5 * n_flat * np.log(2 * np.pi * 1e7)
    assert free.log_evidence_ == pytest.approx(almost.log_evidence_ + density, abs=1e-4)


@pytest.mark.parametrize("prior", [4.0, [1.0, np.inf, 2.0], None], ids=["all", "some", "flat"])
def test_estimated_noise_maximises_the_evidence(prior):
    best = th.BayesianLinearRegression(prior_covariance=prior).fit(X, Y)
    for factor in (0.97, 1.03):
        near = th.BayesianLinearRegression(prior_covariance=prior, noise=factor * best.noise_)
        assert near.fit(X, Y).log_evidence_ < best.log_evidence_
    here, above = (
        th.BayesianLinearRegression(prior_covariance=prior, noise=best.noise_ * (1 + e))
        .fit(X, Y)
        .log_evidence_
        for e in (-1e-4, 1e-4)
    )
    assert abs(above - here) < 1e-6  # stationary


def test_weights_count_rows():
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, N)
    rows = np.repeat(np.arange(N), weight)
    for noise in (None, SIGMA):
        weighted = th.BayesianLinearRegression().fit(X, Y, weight, noise=noise)
        repeated = th.BayesianLinearRegression().fit(
            X[rows], Y[rows], noise=None if noise is None else noise[rows]
        )
        np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-9)
        np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-8)
        assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_)


@pytest.mark.parametrize("noise", [None, SIGMA], ids=["estimated", "per row"])
def test_batches_in_any_grouping_are_one_fit(noise):
    whole = th.BayesianLinearRegression(prior_covariance=FULL).fit(X, Y, noise=noise)
    parts = th.BayesianLinearRegression(prior_covariance=FULL)
    for rows in (slice(0, 5), slice(5, 6), slice(6, N)):
        given = None if noise is None else noise[rows]
        if noise is None and rows.start == 0:
            parts.partial_fit(X[rows], Y[rows])
        else:
            parts.partial_fit(X[rows], Y[rows], noise=given)
    np.testing.assert_allclose(parts.mean_, whole.mean_, rtol=1e-9)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=1e-8, atol=1e-14)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_)


def test_posterior_of_one_batch_is_the_prior_of_the_next():
    whole = th.BayesianLinearRegression(0.5, FULL, fit_intercept=False).fit(X, Y, noise=SIGMA)
    first = th.BayesianLinearRegression(0.5, FULL, fit_intercept=False)
    first.fit(X[:15], Y[:15], noise=SIGMA[:15])
    second = th.BayesianLinearRegression(first.mean_, first.covariance_, fit_intercept=False)
    second.fit(X[15:], Y[15:], noise=SIGMA[15:])
    np.testing.assert_allclose(second.mean_, whole.mean_, rtol=1e-9)
    np.testing.assert_allclose(second.covariance_, whole.covariance_, rtol=1e-8, atol=1e-14)
    assert first.log_evidence_ + second.log_evidence_ == pytest.approx(whole.log_evidence_)


def test_predictive_distribution():
    """Mean xᵀm + b, variance σ² + (x, 1)ᵀV(x, 1)."""
    model = th.BayesianLinearRegression(prior_covariance=4.0, noise=1.5).fit(X, Y)
    design = np.column_stack([X[:6], np.ones(6)])
    spread = design @ model.covariance_ @ design.T
    mean, std, cov = model.predict(X[:6], return_std=True, return_cov=True)
    np.testing.assert_allclose(mean, design @ model.mean_)
    np.testing.assert_allclose(cov, spread + 1.5**2 * np.eye(6), rtol=1e-9)
    np.testing.assert_allclose(std**2, np.diagonal(cov), rtol=1e-9)
    _, function = model.predict(X[:6], return_std=True, noise=0.0)
    np.testing.assert_allclose(function**2, np.diagonal(spread), rtol=1e-7)
    low, high = model.predict_interval(X[:6], level=0.9)
    np.testing.assert_allclose((high - low) / 2, 1.6448536269514722 * std)
    low, high = model.predict_interval(X[:6], level=0.9, kind="credible")
    np.testing.assert_allclose((high - low) / 2, 1.6448536269514722 * function)
    sparse = model.predict(scipy.sparse.csr_array(X[:6]), return_std=True)
    np.testing.assert_allclose(sparse, (mean, std))


def test_draws_have_the_posterior_moments():
    model = th.BayesianLinearRegression(prior_covariance=4.0, noise=1.5).fit(X, Y)
    coef, intercept = model.sample_posterior(20_000, random_state=0)
    draws = np.column_stack([coef, intercept])
    error = np.sqrt(np.diagonal(model.covariance_) / 20_000)
    assert (np.abs(draws.mean(axis=0) - model.mean_) < 4.5 * error).all()
    np.testing.assert_allclose(
        np.corrcoef(draws.T), np.corrcoef(draws.T) * 0 + correlation(model.covariance_), atol=0.04
    )
    again = model.sample_posterior(3, random_state=0)[0]
    np.testing.assert_array_equal(again, model.sample_posterior(3, random_state=0)[0])


def correlation(covariance):
    scale = np.sqrt(np.diagonal(covariance))
    return covariance / scale / scale[:, None]


@repeated(200, 800)
def test_credible_intervals_hold_what_they_say(repeats):
    """Coefficients drawn from the prior lie in their 90% intervals 90% of the time."""
    random, hits = np.random.default_rng(1), 0
    for _ in range(repeats):
        beta = random.standard_normal(D)
        y = X[:12] @ beta + 2.0 + 0.7 * random.standard_normal(12)
        line = th.BayesianLinearRegression(noise=0.7).fit(X[:12], y).summary(level=0.9)["x0"]
        hits += line.low <= beta[0] <= line.high
    assert abs(hits / repeats - 0.9) < 3.5 * np.sqrt(0.09 / repeats)


def test_columns_far_from_zero_keep_their_digits():
    near = th.BayesianLinearRegression(prior_covariance=4.0).fit(X, Y)
    far = th.BayesianLinearRegression(prior_covariance=4.0).fit(X + 1e6, Y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7)
    np.testing.assert_allclose(
        far.predict(X[:5] + 1e6, return_std=True), near.predict(X[:5], return_std=True), rtol=1e-6
    )


def test_exact_data_keep_a_proper_posterior():
    constant = th.BayesianLinearRegression().fit(X, np.full(N, 3.0))
    assert 0 < constant.noise_ < 1e-6
    np.testing.assert_allclose(constant.coef_, 0.0, atol=1e-12)
    assert np.isfinite(constant.log_evidence_)
    zero = th.BayesianLinearRegression().fit(X, np.zeros(N))
    assert np.isfinite(zero.predict(X, return_std=True)[1]).all()
    exact = th.BayesianLinearRegression(prior_covariance=None).fit(X, X @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(exact.coef_, [1.0, 2.0, 3.0], rtol=1e-9)


def test_fewer_rows_than_columns_need_a_prior_and_no_more():
    few = th.BayesianLinearRegression(prior_covariance=2.0, noise=1.0).fit(X[:2], Y[:2])
    assert np.isfinite(few.mean_).all()
    one = th.BayesianLinearRegression(prior_covariance=2.0, noise=1.0).fit(X[:1], Y[:1])
    np.testing.assert_allclose(one.predict(X[:1]), Y[:1])
    with pytest.raises(th.errors.DataError, match=r"one sample.*Give noise"):
        th.BayesianLinearRegression().fit(X[:1], Y[:1])
    with pytest.raises(th.errors.CapabilityError, match=r"improper.*prior_covariance"):
        th.BayesianLinearRegression(prior_covariance=None).fit(X[:3], Y[:3])
    with pytest.raises(th.errors.CapabilityError, match="linearly dependent"):
        th.BayesianLinearRegression(prior_covariance=None).fit(np.hstack([X, X]), Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior_covariance": np.ones(4)}, r"shape \(4,\); give one variance, 3 variances"),
        ({"prior_covariance": np.diag([1.0, 1.0, -1.0])}, "semidefinite.*the eigenvalue -1"),
        ({"prior_covariance": np.triu(np.ones((3, 3)))}, "not symmetric"),
        ({"prior_covariance": np.full((3, 3), np.nan)}, r"prior_covariance\[0, 0\] = nan"),
        ({"prior_covariance": -1.0}, "column 0 the variance -1"),
        ({"prior_mean": [1.0, 2.0]}, r"prior_mean must be a finite number.*\(2,\)"),
        ({"noise": 0.0}, "noise=0.0 must be a number from 1e-100"),
        ({"intercept_prior": (0.0, -1.0)}, "variance > 0"),
    ],
    ids=["shape", "negative", "asymmetric", "nan", "variance", "mean", "noise", "intercept"],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.BayesianLinearRegression(**parameters).fit(X, Y)


def test_bad_noise_and_calls():
    with pytest.raises(th.errors.DataError, match=r"noise\[3\] = -1; .*from 1e-100"):
        th.BayesianLinearRegression().fit(X, Y, noise=np.where(np.arange(N) == 3, -1.0, 1.0))
    with pytest.raises(th.errors.DataError, match=r"Give an array of shape \(40,\)"):
        th.BayesianLinearRegression().fit(X, Y, noise=[1.0, 2.0])
    each = th.BayesianLinearRegression().fit(X, Y, noise=SIGMA)
    with pytest.raises(th.errors.ParameterError, match=r"own noise.*Give noise"):
        each.predict(X, return_std=True)
    assert len(each.predict_interval(X, kind="credible")) == 2
    assert "one per row" in str(each.summary())
    with pytest.raises(th.errors.ParameterError, match="noise must be a number ≥ 0"):
        each.predict(X, return_std=True, noise=[1.0])
    with pytest.raises(th.errors.ParameterError, match="with every batch"):
        each.partial_fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="kind='confidence'"):
        each.predict_interval(X, kind="confidence")
    with pytest.raises(th.errors.ParameterError, match="level=2"):
        each.summary(level=2)
    with pytest.raises(ValueError, match="2 features, but BayesianLinearRegression is expecting 3"):
        th.BayesianLinearRegression().fit(X, Y).partial_fit(X[:, :2], Y)


def evidence_of(X, y, log_variance, intercept):
    """−2 log p(y) from the n × n covariance, a flat intercept taken out."""
    n = len(y)
    if intercept:
        basis = np.linalg.svd(np.ones((1, n)))[2][1:]
        X, y = basis @ X, basis @ y
    values, vectors = np.linalg.eigh(X @ X.T)
    lifted = np.maximum(values, 0.0) + np.exp(log_variance)[:, None]
    return (np.log(lifted) + (vectors.T @ y) ** 2 / lifted).sum(axis=1)


@pytest.mark.parametrize(("n", "d"), [(5, 8), (20, 40)])
@pytest.mark.parametrize("intercept", [False, True])
def test_noise_maximises_the_evidence_with_fewer_rows_than_columns(n, d, intercept):
    grid, at_the_least = np.linspace(-30.0, 10.0, 2001), 0
    for seed in range(15):
        random = np.random.default_rng(seed)
        rows = random.normal(size=(n, d))
        y = rows @ random.normal(size=d) + random.normal(size=n)
        model = th.BayesianLinearRegression(fit_intercept=intercept).fit(rows, y)
        found = evidence_of(rows, y, np.array([2 * np.log(model.noise_)]), intercept)[0]
        assert found <= evidence_of(rows, y, grid, intercept).min() + 1e-4
        least = model.noise_ < 1e-6
        assert least == ("largest at σ → 0" in model.solution_.message)
        at_the_least += least
    assert 0 < at_the_least < 15


def test_noise_of_few_rows_is_the_known_maximum():
    random = np.random.default_rng(2)
    rows = random.normal(size=(5, 8))
    y = rows @ random.normal(size=8) + random.normal(size=5)
    model = th.BayesianLinearRegression(fit_intercept=False).fit(rows, y)
    assert model.noise_ == pytest.approx(0.7737552, rel=1e-6)
    joint = multivariate_normal(np.zeros(5), rows @ rows.T + model.noise_**2 * np.eye(5))
    assert model.log_evidence_ == pytest.approx(joint.logpdf(y), rel=1e-10)


@pytest.mark.parametrize(("x", "y"), [(1e80, 1e80), (1e-80, 1e-80), (1e150, 1e150)])
def test_posterior_follows_the_units(x, y):
    one, other = (th.BayesianLinearRegression().fit(X * a, Y * b) for a, b in [(1.0, 1.0), (x, y)])
    assert other.noise_ == pytest.approx(one.noise_ * y, rel=1e-9)
    np.testing.assert_allclose(other.coef_ * x, one.coef_ * y, rtol=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (1e160, 1e160, "Column 0 is so large that its squares overflow. Rescale"),
        (1.0, 1e160, "The target y is so large that its squares overflow"),
        (1e-160, 1.0, "Column 0 is so small that its squares underflow"),
    ],
)
def test_units_beyond_squares_are_refused(x, y, message):
    with pytest.raises(th.errors.DataError, match=message):
        th.BayesianLinearRegression().fit(X * x, Y * y)


def test_words_for_numbers_are_refused_by_name():
    with pytest.raises(th.errors.ParameterError, match="prior_mean='a' must be a real number"):
        th.BayesianLinearRegression(prior_mean="a").fit(X, Y)
    with pytest.raises(
        th.errors.ParameterError, match="prior_covariance='a' must be a real number"
    ):
        th.BayesianLinearRegression(prior_covariance="a").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="noise='a' must be a real number"):
        th.BayesianLinearRegression().fit(X, Y, noise="a")
    with pytest.raises(th.errors.ParameterError, match="level='a' must lie strictly between"):
        th.BayesianLinearRegression().fit(X, Y).summary(level="a")


def test_noise_whose_square_is_no_number_is_refused():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.1]
    with pytest.raises(
        th.errors.ParameterError, match=r"noise=1e-320 must be a number from 1e-100"
    ):
        th.BayesianLinearRegression(noise=1e-320).fit(X, y)
    with pytest.raises(th.errors.DataError, match=r"noise\[1\] = .*must be from 1e-100"):
        th.BayesianLinearRegression().fit(X, y, noise=[1.0, 1e-320, 1.0])
