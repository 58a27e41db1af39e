"""BayesianRidge: scikit-learn's answers, an evidence that is a maximum, and what else it says."""

import numpy as np
import pytest
import sklearn.linear_model
from scipy import stats

import thetahat as th
from tests.repeats import repeated


def make(n, d):
    random = np.random.default_rng(n + d)
    X = random.standard_normal((n, d)) + 3 * random.standard_normal(d)
    return X, X @ random.standard_normal(d) + random.standard_normal(n) + 4.0


X, Y = make(80, 6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(100, 5), (20, 40), (40, 40)], ids=["tall", "wide", "square"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(shape, intercept, weighted):
    rows, y = make(*shape)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    options = {"fit_intercept": intercept, "compute_score": True}
    ours = th.BayesianRidge(**options).fit(rows, y, weight)
    theirs = sklearn.linear_model.BayesianRidge(**options).fit(rows, y, weight)
    assert ours.n_iter_ == theirs.n_iter_
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "X_offset_", "X_scale_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9, err_msg=name
        )
    # Their last score mixes new precisions with old coefficients.
    np.testing.assert_allclose(ours.scores_[:-1], theirs.scores_[:-1], rtol=1e-9)
    assert ours.scores_.shape == theirs.scores_.shape
    np.testing.assert_allclose(
        ours.predict(rows, return_std=True), theirs.predict(rows, return_std=True), rtol=1e-5
    )


@pytest.mark.parametrize(
    "options",
    [
        {"max_iter": 1},
        {"alpha_init": 3.0, "lambda_init": 0.01},
        {"alpha_1": 2.0, "alpha_2": 1.0, "lambda_1": 3.0, "lambda_2": 0.5},
    ],
    ids=["one step", "start", "hyperpriors"],
)
@pytest.mark.filterwarnings(
    "ignore:.*maximum number of iterations:sklearn.exceptions.ConvergenceWarning"
)
def test_parameters_mean_what_they_do_in_scikit_learn(options):
    ours = th.BayesianRidge(**options).fit(X, Y)
    theirs = sklearn.linear_model.BayesianRidge(**options).fit(X, Y)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    assert ours.lambda_ == pytest.approx(theirs.lambda_)


def test_precisions_maximise_the_evidence():
    model = th.BayesianRidge(tol=1e-12, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0).fit(X, Y)

    def evidence(alpha, weight):
        known = th.BayesianLinearRegression(0.0, 1 / weight, noise=alpha**-0.5).fit(X, Y)
        # There a flat intercept is integrated out; here it is the mean of y.
        return known.log_evidence_ - 0.5 * np.log(2 * np.pi / (alpha * len(Y)))

    best = evidence(model.alpha_, model.lambda_)
    assert model.log_evidence_ == pytest.approx(best, rel=1e-10)
    assert model.log_evidence_ == -model.solution_.value
    for factor in (0.99, 1.01):
        # MacKay's fixed point is stationary in both precisions.
        assert evidence(model.alpha_ * factor, model.lambda_) < best
        assert evidence(model.alpha_, model.lambda_ * factor) < best


def test_it_is_ridge_with_the_penalty_it_found():
    model = th.BayesianRidge().fit(X, Y)
    ridge = th.Ridge(alpha=model.lambda_ / model.alpha_).fit(X, Y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(ridge.intercept_)


def test_scores_never_fall():
    scores = th.BayesianRidge(compute_score=True, tol=1e-10).fit(X, Y).scores_
    assert (np.diff(scores) > -1e-9 * abs(scores[-1])).all()
    assert th.BayesianRidge().fit(X, Y).scores_ == []


def test_intervals_count_the_intercept_and_the_estimated_noise():
    """With ν = n − 1 − γ: Student's t and the noise variance ‖y − ŷ‖²/ν."""
    model = th.BayesianRidge(tol=1e-12, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0).fit(X, Y)
    n, d = X.shape
    freedom = n - 1 - (d - model.lambda_ * np.trace(model.sigma_))
    noise = np.sum((Y - model.predict(X)) ** 2) / freedom
    quantile = stats.t.ppf(0.95, freedom)
    _, std = model.predict(X[:5], return_std=True)
    variance = (std**2 + 1 / (model.alpha_ * n)) * model.alpha_ * noise
    low, high = model.predict_interval(X[:5], level=0.9)
    np.testing.assert_allclose((high - low) / 2, quantile * np.sqrt(variance), rtol=1e-6)
    low, high = model.predict_interval(X[:5], level=0.9, kind="credible")
    np.testing.assert_allclose((high - low) / 2, quantile * np.sqrt(variance - noise), rtol=1e-6)
    line = model.summary(level=0.9)["x1"]
    expected = quantile * np.sqrt(model.sigma_[1, 1] * model.alpha_ * noise)
    assert (line.high - line.low) / 2 == pytest.approx(expected, rel=1e-6)
    draws, _ = model.sample_posterior(5, random_state=0)
    assert draws.shape == (5, 6)


@repeated(100, 300)
@pytest.mark.parametrize("kind", [th.BayesianRidge, th.BayesianLinearRegression])
@pytest.mark.parametrize(("n", "d"), [(60, 4), (15, 3), (8, 3)])
def test_prediction_intervals_hold_what_they_say(kind, n, d, repeats):
    random, hits = np.random.default_rng(3), 0.0
    for _ in range(repeats):
        design, beta = random.standard_normal((n, d)), random.standard_normal(d)
        y = design @ beta + random.standard_normal(n)
        x = random.standard_normal((20, d))
        low, high = kind().fit(design, y).predict_interval(x, level=0.8)
        new = x @ beta + random.standard_normal(20)
        hits += np.mean((low <= new) & (new <= high))
    assert abs(hits / repeats - 0.8) < 3.5 * np.sqrt(0.16 / repeats / 2)


def test_rows_in_a_file(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    source = th.scan(tmp_path / "rows.npy", target=6)
    model, expected = th.BayesianRidge().fit(source), th.BayesianRidge().fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict(source, return_std=True), expected.predict(X, return_std=True), rtol=1e-9
    )


@pytest.mark.parametrize("hyper", [1e-6, 0.0])
def test_exact_data_have_a_large_precision_not_an_infinite_one(hyper):
    priors = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), hyper)
    constant = th.BayesianRidge(**priors).fit(X, np.full(80, 3.0))
    np.testing.assert_allclose(constant.coef_, 0.0, atol=1e-12)
    assert constant.intercept_ == 3.0
    exact = th.BayesianRidge(**priors).fit(X, X @ np.arange(6.0))
    np.testing.assert_allclose(exact.coef_, np.arange(6.0), atol=1e-5)
    for model in (constant, exact, th.BayesianRidge(**priors).fit(X[:1], Y[:1])):
        assert np.isfinite([model.alpha_, model.lambda_, model.log_evidence_]).all()
        assert np.isfinite(model.sigma_).all()


def test_small_noise_keeps_its_digits():
    """Residuals of 1e-7 beside targets of 10: moments alone would not know them."""
    random = np.random.default_rng(1)
    y = 10 * X @ np.arange(1.0, 7.0) + 1e-7 * random.standard_normal(80)
    priors = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    model = th.BayesianRidge(**priors).fit(X, y)
    residual = y - th.LinearRegression().fit(X, y).predict(X)
    assert model.alpha_**-0.5 == pytest.approx(np.sqrt(residual @ residual / 73), rel=0.05)


def test_stops_early_with_a_warning():
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="change of the coefficients"):
        th.BayesianRidge(max_iter=1, tol=1e-12).fit(X, Y)


def test_bad_parameters():
    for name, value in (("alpha_1", -1.0), ("alpha_init", 0.0), ("tol", -1.0), ("max_iter", 0)):
        with pytest.raises(th.errors.ParameterError, match=f"{name}={value}"):
            th.BayesianRidge(**{name: value}).fit(X, Y)
