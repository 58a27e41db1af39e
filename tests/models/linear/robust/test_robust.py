"""M-estimation: solvers agree, outliers have little influence, and are named."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.data.chunked import Chunked, OnlyBlocks
from tests.repeats import repeated
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.models.linear.robust.robust_regressor import Agreement
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.residual_scale import robust_start
from thetahat.objective.robust.s_estimate import (
    _grams,
    _through_random_rows,
    least_squares,
    s_estimate,
)

RANDOM = np.random.default_rng(0)
N = 200
X = RANDOM.standard_normal((N, 3))
TRUE = np.array([1.0, -2.0, 0.5])
Y = X @ TRUE + 1.0 + 0.5 * RANDOM.standard_normal(N)
WRONG = np.arange(20)
Y[WRONG] += RANDOM.choice([-1, 1], 20) * RANDOM.uniform(10, 50, 20)
NAMES = ["huber", "forsyth", "cauchy", "tukey", "absolute", "epsilon_insensitive"]
SMOOTH = ["huber", "forsyth", "cauchy", "tukey"]


@cache
def fitted(loss):
    """The model of all rows; tests read it and leave it."""
    return th.RobustRegressor(loss).fit(X, Y)


@pytest.mark.parametrize("loss", SMOOTH)
def test_reweighting_and_gradients_agree(loss):
    reweighted = th.RobustRegressor(loss, solver="irls").fit(X, Y)
    assert reweighted.solution_.outcome.success
    for solver in ("gradient_descent", "lbfgs", "newton"):
        other = th.RobustRegressor(loss, solver=solver).fit(X, Y)
        assert other.solution_.solver == solver
        np.testing.assert_allclose(other.coef_, reweighted.coef_, atol=1e-6)
        assert other.scale_ == pytest.approx(reweighted.scale_, rel=1e-6)


@pytest.mark.parametrize("loss", NAMES)
def test_the_pulls_balance_and_the_scale_is_that_of_the_residuals(loss):
    model = fitted(loss)
    residual = model.predict(X) - Y
    assert model.scale_ == pytest.approx(1.482602218505602 * np.median(abs(residual)), rel=1e-7)
    units = residual / model.scale_
    if loss in SMOOTH:
        slope = model.loss_.gradient(np.zeros(N), units)
        np.testing.assert_allclose(X.T @ slope / N, 0.0, atol=1e-7)
        np.testing.assert_allclose(model.weights_ * units, slope, atol=1e-9)
    np.testing.assert_allclose(model.coef_, TRUE, atol=0.2)


@pytest.mark.parametrize("scale", ["mad", "huber"])
@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_statsmodels_agrees(loss, scale):
    norm = {
        "huber": sm.robust.norms.HuberT(1.35),
        "tukey": sm.robust.norms.TukeyBiweight(4.685),
    }[loss]
    estimate = "mad" if scale == "mad" else sm.robust.scale.HuberScale(tol=1e-12, maxiter=500)
    theirs = sm.RLM(Y, sm.add_constant(X), M=norm).fit(tol=1e-13, maxiter=500, scale_est=estimate)
    ours = th.RobustRegressor(loss, scale=scale).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.params[1:], atol=1e-6)
    assert ours.scale_ == pytest.approx(theirs.scale, rel=1e-5)
    np.testing.assert_allclose(ours.weights_, theirs.weights, atol=1e-5)


@pytest.mark.parametrize("loss", NAMES)
def test_outliers_are_detected_labelled_and_discounted(loss):
    model = fitted(loss)
    good = np.setdiff1d(np.arange(N), WRONG)
    assert model.outliers_[WRONG].all()
    assert model.outliers_[good].mean() < 0.1
    if loss != "epsilon_insensitive":  # whose rows inside the tube have no weight at all
        assert model.weights_[WRONG].max() < 0.3 * np.median(model.weights_[good])
    if loss == "tukey":
        np.testing.assert_array_equal(model.weights_[WRONG], 0.0)


def influence(model, row, step=1e-3):
    """∂β̂/∂yᵢ by differences."""
    up, down = (Y + shift * step * (np.arange(N) == row) for shift in (1, -1))
    return np.linalg.norm(model.fit(X, up).coef_ - model.fit(X, down).coef_) / (2 * step)


@pytest.mark.parametrize("loss", NAMES)
def test_the_influence_of_an_outlier_is_small(loss):
    """Far below that of least squares."""
    plain, robust = (
        influence(each, 0) for each in (th.LinearRegression(), th.RobustRegressor(loss))
    )
    assert robust < 0.2 * plain, (robust, plain)


def test_the_influence_of_an_inlier_is_not():
    assert influence(th.RobustRegressor("tukey"), 100) > 0.2 * influence(th.LinearRegression(), 100)


def test_squared_loss_has_the_influence_of_least_squares():
    np.testing.assert_allclose(
        th.RobustRegressor("squared").fit(X, Y).coef_,
        th.LinearRegression().fit(X, Y).coef_,
        rtol=1e-8,
    )


@pytest.mark.parametrize("loss", ["tukey", "forsyth"])
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_forty_percent_of_leverage_points_do_not_win(loss, seed, d):
    random = np.random.default_rng(seed)
    n = 40 * (d + 1)
    x = random.standard_normal((n, d))
    beta = random.standard_normal(d)
    y = x @ beta + 1.0 + 0.3 * random.standard_normal(n)
    bad = np.arange(int(0.4 * n))
    x[bad] = 0.3 * x[bad] + 6.0 / np.sqrt(d) * np.ones(d)
    y[bad] = -30.0 + random.standard_normal(len(bad))
    model = th.RobustRegressor(loss).fit(x, y)
    np.testing.assert_allclose(model.coef_, beta, atol=0.35)
    np.testing.assert_array_equal(np.flatnonzero(model.outliers_), bad)
    assert abs(th.RobustRegressor("huber").fit(x, y).coef_ - beta).max() > 0.5  # convex: it loses


def test_the_same_random_state_gives_the_same_fit():
    random = np.random.default_rng(1)
    x, y = np.tile(X, (3, 1)), np.tile(Y, 3) + 0.1 * random.standard_normal(3 * N)
    fits = [
        th.RobustRegressor("tukey", sample_size=200, random_state=s).fit(x, y) for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    np.testing.assert_allclose(fits[0].coef_, fits[2].coef_, atol=1e-6)


def test_scaling_y_scales_the_fit_and_a_given_scale_is_kept():
    plain = fitted("tukey")
    scaled = th.RobustRegressor("tukey").fit(X, 1e6 * Y)
    np.testing.assert_allclose(scaled.coef_, 1e6 * plain.coef_, rtol=1e-6)
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)
    given = th.RobustRegressor("huber", scale=0.5).fit(X, Y)
    assert given.scale_ == 0.5
    model = th.LinearModel(th.losses.Huber(0.5 * 1.35), "none").fit(X, Y)
    np.testing.assert_allclose(given.coef_, model.coef_, atol=1e-7)
    unscaled = th.RobustRegressor("absolute", scale=None).fit(X, Y)
    median = th.QuantileRegressor(alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(unscaled.coef_, median.coef_, rtol=1e-9)


def test_the_penalty_is_that_of_linear_model():
    model = th.RobustRegressor("huber", alpha=0.5, scale=1.0).fit(X, Y)
    expected = th.LinearModel("huber", th.penalties.L2(0.5)).fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-7)


def test_weights_streams_and_sparse_rows():
    random = np.random.default_rng(2)
    weight = random.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    for loss in ("huber", "tukey"):
        weighted = th.RobustRegressor(loss).fit(X, Y, weight)
        repeated = th.RobustRegressor(loss).fit(X[rows], Y[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
        plain = fitted(loss)
        chunked = Chunked(X=X, y=Y, n_features=3, has_target=True)
        stream = OnlyBlocks(rows=chunked, n_features=3, has_target=True)
        np.testing.assert_allclose(
            th.RobustRegressor(loss).fit(stream).coef_, plain.coef_, rtol=1e-9
        )
        sparse = th.RobustRegressor(loss).fit(sp.csr_array(X), Y)
        np.testing.assert_allclose(sparse.coef_, plain.coef_, rtol=1e-9)


def test_a_loss_of_ones_own_and_one_whose_derivative_disagrees():
    log_cosh = th.loss(lambda y, z: np.log(np.cosh(z - y)), name="log_cosh")
    model = th.RobustRegressor(log_cosh).fit(X, Y)
    np.testing.assert_allclose(model.coef_, TRUE, atol=0.2)
    units = (model.predict(X) - Y) / model.scale_
    np.testing.assert_allclose(model.weights_, np.tanh(units) / units, rtol=1e-6)
    with pytest.raises(th.errors.ParameterError, match="gradient"):
        th.RobustRegressor(
            th.loss(lambda y, z: np.log(np.cosh(z - y)), gradient=lambda y, z: z - y)
        ).fit(X, Y)


@pytest.mark.parametrize("scale", ["mad", "huber"])
def test_more_than_half_of_the_rows_on_one_plane(scale):
    random = np.random.default_rng(3)
    y = X @ TRUE + 1.0
    y[:80] += 10 * random.standard_normal(80)
    for loss in ("tukey", "huber"):
        model = th.RobustRegressor(loss, scale=scale).fit(X, y)
        np.testing.assert_allclose(model.coef_, TRUE, rtol=1e-9)
        assert model.scale_ == 0.0
        np.testing.assert_array_equal(np.flatnonzero(model.outliers_), np.arange(80))
        np.testing.assert_array_equal(model.weights_, ~model.outliers_)
    with pytest.raises(th.errors.DataError, match="more than half of the rows lie on one plane"):
        th.RobustRegressor("tukey", alpha=1.0).fit(X, y)


def test_constant_targets_few_rows_and_identical_rows():
    for loss in ("huber", "tukey"):
        flat = th.RobustRegressor(loss).fit(X, np.full(N, 4.0))
        np.testing.assert_allclose(flat.predict(X), 4.0)
        few = th.RobustRegressor(loss).fit(X[:3], Y[:3])
        np.testing.assert_allclose(few.predict(X[:3]), Y[:3], atol=1e-6)
        x, y = X.copy(), Y.copy()
        x[:120], y[:120] = x[150], y[150]
        same = th.RobustRegressor(loss).fit(x, y)
        assert same.predict(x[150:151])[0] == pytest.approx(y[150])
        twice = np.column_stack([X, X[:, 0]])
        model, plain = th.RobustRegressor(loss).fit(twice, Y), fitted(loss)
        np.testing.assert_allclose(model.predict(twice), plain.predict(X), atol=1e-5)


@pytest.mark.parametrize("loss", ["huber", "tukey", "forsyth", "cauchy"])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 3), (4, 3), (5, 8), (8, 7), (10, 30), (20, 20)])
@repeated(1, 3)
def test_rows_that_one_plane_can_hold_are_all_on_it(loss, n, d, repeats):
    """Alone, repeated, weighted, and beside rows that do not count: rounding drops none of them."""
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        x, y = random.standard_normal((n, d)), 40 * random.standard_normal(n)
        rows = np.repeat(np.arange(n), random.integers(1, 6, n))
        weight = np.r_[random.uniform(0.2, 5, n), np.zeros(4)]
        beside = np.r_[np.arange(n), np.zeros(4, dtype=int)]
        off = np.where(weight > 0, 0.0, 100.0)
        for x_, y_, weight_ in (
            (x, y, None),
            (x[rows], y[rows], None),
            (x[beside], y[beside] + off, weight),
        ):
            model = th.RobustRegressor(loss).fit(x_, y_, weight_)
            counts = slice(None, n) if weight_ is not None else slice(None)
            np.testing.assert_allclose(model.predict(x_)[counts], y_[counts], atol=1e-6)
            assert model.scale_ == 0.0
            assert not model.outliers_[counts].any()


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_constant_targets_have_no_outliers(loss):
    for value in (0.3, -7.7, 1e9 / 3):
        for n in (2, 5, 30):
            model = th.RobustRegressor(loss).fit(X[:n], np.full(n, value))
            np.testing.assert_allclose(model.predict(X[:n]), value, rtol=1e-9)
            assert model.scale_ == 0.0
            assert not model.outliers_.any()


def test_refusals_name_rule_and_remedy():
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'tukey'"):
        th.RobustRegressor("tuckey").fit(X, Y)
    with pytest.raises(
        th.errors.ParameterError, match=r"loss='logistic' is for 0 or 1.*LinearModel"
    ):
        th.RobustRegressor("logistic").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="scale=0"):
        th.RobustRegressor(scale=0).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"scale='mat'.*Did you mean 'mad'"):
        th.RobustRegressor(scale="mat").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="outlier_threshold"):
        th.RobustRegressor(outlier_threshold=0.0).fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match="Newton needs"):
        th.RobustRegressor("absolute", solver="newton").fit(X, Y)
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.RobustRegressor().fit(X, np.where(np.arange(N) == 3, np.nan, Y))
    with pytest.raises(th.errors.DataError, match="infinity"):
        th.RobustRegressor().fit(np.where(X > 2, np.inf, X), Y)


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_columns_far_from_zero_lose_no_digits(offset):
    """Years and timestamps: next to the intercept's column they look constant."""
    plain = fitted("tukey")
    far = th.RobustRegressor("tukey").fit(X + offset, Y)
    np.testing.assert_allclose(far.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(far.predict(X + offset), plain.predict(X), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(far.solution_.theta[: X.shape[1]], far.coef_)


def heavy_tails(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 60)), int(random.integers(1, 8))
    x = random.normal(size=(n, d))
    return x, x @ random.normal(size=d) + random.standard_t(1.5, size=n)


@pytest.mark.parametrize(
    ("loss", "seed"),
    [("tukey", 6), ("tukey", 9), ("tukey", 16), ("tukey", 24), ("epsilon_insensitive", 41)],
)
def test_scale_and_fit_agree_where_plain_rounds_go_in_circles(loss, seed):
    x, y = heavy_tails(seed)
    model = th.RobustRegressor(loss).fit(x, y)
    local = th.results.Outcome.LOCAL
    assert model.solution_.outcome is (local if loss == "tukey" else th.results.Outcome.CONVERGED)
    scale = 1.482602218505602 * np.median(abs(y - model.predict(x)))
    assert model.scale_ == pytest.approx(scale, rel=1e-6)


def test_scales_that_agree_with_no_fit_are_reported():
    x, y = heavy_tails(119)
    y = np.round(y)
    with pytest.warns(ConvergenceWarning, match="relative difference between the scale"):
        model = th.RobustRegressor("tukey").fit(x, y)
    assert "no scale" in model.solution_.message
    assert model.solution_.gap > 1e-6


def test_the_search_for_a_scale_closes_in_on_a_root_that_repels():
    """T(σ) = 2/σ² at σ: plain rounds run away from the root 2^(1/3)."""
    agreement, scale = Agreement(), 1.2
    for _ in range(60):
        found = min(max(2 / scale**2, 0.1), 10.0)
        if abs(found / scale - 1) < 1e-10:
            break
        scale = agreement.next_scale(scale, found)
    assert scale == pytest.approx(2 ** (1 / 3), rel=1e-9)


def test_many_columns_take_fewer_starts():
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 80))
    y = x @ random.normal(size=80) + random.standard_t(2, size=300)
    design, weight = np.c_[x, np.ones(300)], np.ones(300)
    assert _through_random_rows(design, y, weight / 300, random) == []
    start = s_estimate(design, y, weight, random)
    assert np.median(abs(y - design @ start)) < np.median(
        abs(y - design @ least_squares(design, y, weight))
    )


def test_grams_of_many_columns_are_those_of_few(monkeypatch):
    random = np.random.default_rng(0)
    A, pull = random.normal(size=(50, 4)), random.uniform(size=(50, 3))
    few = _grams(A)(pull)
    monkeypatch.setattr("thetahat.objective.robust.s_estimate.MOST_PRODUCTS", 0)
    np.testing.assert_allclose(_grams(A)(pull), few)


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_without_time_the_start_is_least_squares(loss):
    x, y = heavy_tails(26)
    source, predictor = as_source(x, y), LinearPredictor(x.shape[1])
    late = Watch(max_time=0.0, started=-1.0)
    options = {"convex": loss == "huber", "sample_size": 1000, "random_state": 0}
    start = robust_start(source, predictor, **options, watch=late)
    design = np.c_[x, np.ones(len(y))]
    np.testing.assert_allclose(start, np.linalg.lstsq(design, y)[0], rtol=1e-9)
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.RobustRegressor(loss).fit(x, y)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME


@pytest.mark.parametrize("work", ["near_least_absolute", "s_estimate"])
def test_an_interrupt_in_the_start_keeps_least_squares(monkeypatch, work):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"thetahat.objective.robust.residual_scale.{work}", interrupted)
    x, y = heavy_tails(26)
    model = th.RobustRegressor("huber" if work == "near_least_absolute" else "tukey")
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    design = np.c_[x, np.ones(len(y))]
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(design, y)[0][:-1], rtol=1e-9)
    assert model.scale_ > 0
    assert model.predict(x).shape == y.shape


@pytest.mark.parametrize("loss", ["huber", "tukey"])
@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_targets_of_any_size(loss, size):
    plain = fitted(loss)
    scaled = th.RobustRegressor(loss).fit(X, Y * size)
    np.testing.assert_allclose(scaled.coef_ / size, plain.coef_, rtol=1e-9)
    assert scaled.scale_ / size == pytest.approx(plain.scale_)
