"""Quantile regression: the exact optimum, and what a quantile promises."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.data.chunked import Chunked, OnlyBlocks

RANDOM = np.random.default_rng(0)
N = 300
X = RANDOM.standard_normal((N, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + (1 + abs(X[:, 0])) * RANDOM.standard_t(2, N)


def objective(model, q, alpha, x=X, y=Y):
    loss = th.losses.Quantile(q).value(y, model.predict(x))
    return np.mean(loss) + alpha * abs(model.coef_).sum()


@pytest.mark.parametrize("q", [0.05, 0.5, 0.8])
@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "through 0"])
def test_the_optimum_is_scikit_learns(q, alpha, intercept):
    settings = {"quantile": q, "alpha": alpha, "fit_intercept": intercept}
    ours = th.QuantileRegressor(**settings).fit(X, Y)
    theirs = sklearn.linear_model.QuantileRegressor(**settings).fit(X, Y)
    assert ours.solution_.outcome.success
    assert ours.solution_.gap < 1e-12
    assert objective(ours, q, alpha) == pytest.approx(objective(theirs, q, alpha), rel=1e-10)
    np.testing.assert_array_equal(ours.coef_ == 0, abs(theirs.coef_) < 1e-12)


def test_statsmodels_agrees_on_the_median():
    from statsmodels.regression.quantile_regression import QuantReg

    design = np.column_stack([np.ones(N), X])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = QuantReg(Y, design).fit(q=0.5, max_iter=5000, p_tol=1e-10).params
    ours = th.QuantileRegressor(alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs[1:], atol=2e-4)


def test_the_fit_passes_through_rows_and_leaves_a_share_below():
    model = th.QuantileRegressor(quantile=0.3, alpha=0.0).fit(X, Y)
    residual = Y - model.predict(X)
    on = abs(residual) < 1e-9
    assert on.sum() == 5
    assert (residual < 0).sum() - on.sum() <= 0.3 * N <= (residual < 0).sum() + on.sum()


def test_scaling_and_shifting_y_does_so_to_the_fit():
    plain = th.QuantileRegressor(quantile=0.7, alpha=0.0).fit(X, Y)
    other = th.QuantileRegressor(quantile=0.3, alpha=0.0).fit(X, 1e4 - 100.0 * Y)
    np.testing.assert_allclose(other.coef_, -100.0 * plain.coef_, rtol=1e-8)
    assert other.intercept_ == pytest.approx(1e4 - 100.0 * plain.intercept_, rel=1e-10)


def test_a_stream_and_sparse_rows_give_the_same():
    plain = th.QuantileRegressor(alpha=0.01).fit(X, Y)
    rows = Chunked(X=X, y=Y, n_features=4, has_target=True)
    stream = OnlyBlocks(rows=rows, n_features=4, has_target=True)
    np.testing.assert_allclose(
        th.QuantileRegressor(alpha=0.01).fit(stream).coef_, plain.coef_, rtol=1e-9
    )
    sparse = th.QuantileRegressor(alpha=0.01).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, plain.coef_, rtol=1e-9)


def test_several_quantiles_never_cross():
    random = np.random.default_rng(1)
    levels = [0.9, 0.1, 0.5, 0.45, 0.55]
    model = th.QuantileRegressor(quantile=levels, alpha=0.0).fit(X, Y)
    assert model.coef_.shape == (5, 4)
    far = 20 * random.standard_normal((200, 4))
    raw = far @ model.coef_.T + model.intercept_
    assert (np.diff(raw[:, np.argsort(levels)], axis=1) < 0).any()  # the planes do cross there
    found = model.predict(far)
    assert (np.diff(found[:, np.argsort(levels)], axis=1) >= 0).all()
    one = th.QuantileRegressor(quantile=0.9, alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], one.coef_)


@pytest.mark.parametrize("loss", ["absolute", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("penalty", ["none", "l1", "l2", "elastic_net"])
def test_linear_models_with_lines_reach_their_optimum(loss, penalty):
    random = np.random.default_rng(2)
    part = th.penalties.named(penalty)
    part = part if penalty == "none" else part.set_params(alpha=0.05)
    model = th.LinearModel(loss, part).fit(X, Y)
    through_multipliers = (loss, penalty) == ("epsilon_insensitive", "l2")
    expected = "augmented_lagrangian" if through_multipliers else "interior_point"
    assert model.solution_.solver == expected
    assert model.solution_.outcome.success

    def value(coef, intercept):
        return np.mean(model.loss_.value(Y, X @ coef + intercept)) + part.value(coef)

    best = value(model.coef_, model.intercept_)
    for _ in range(200):
        size = 10 ** random.uniform(-5, -1)
        move, shift = size * random.standard_normal(4), size * random.standard_normal()
        assert value(model.coef_ + move, model.intercept_ + shift) >= best - 1e-8


@pytest.mark.parametrize("solver", ["highs", "highs-ds", "highs-ipm", "revised simplex"])
def test_names_of_solvers_are_accepted(solver):
    model = th.QuantileRegressor(alpha=0.0, solver=solver).fit(X[:50], Y[:50])
    assert model.solution_.solver == "interior_point"


def test_data_that_fit_exactly_or_not_at_all():
    flat = th.QuantileRegressor(alpha=0.0, quantile=0.2).fit(X, np.full(N, 5.0))
    np.testing.assert_array_equal(flat.coef_, 0.0)
    assert flat.intercept_ == 5.0
    plane = th.QuantileRegressor(alpha=0.0).fit(X, X @ [1.0, 2.0, 3.0, 4.0] - 1.0)
    np.testing.assert_allclose(plane.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-10)
    huge = th.QuantileRegressor(alpha=1e9).fit(X, Y)
    np.testing.assert_array_equal(huge.coef_, 0.0)
    wide = th.QuantileRegressor(alpha=0.0).fit(X[:3], Y[:3])
    np.testing.assert_allclose(wide.predict(X[:3]), Y[:3], atol=1e-8)
    twice = np.column_stack([X, X[:, 0]])
    assert objective(th.QuantileRegressor(alpha=0.0).fit(twice, Y), 0.5, 0.0, twice) == (
        pytest.approx(objective(th.QuantileRegressor(alpha=0.0).fit(X, Y), 0.5, 0.0), rel=1e-9)
    )


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, 2.0, "half", True, [0.5, 1.0], [], np.nan])
def test_quantiles_outside_0_and_1_are_refused(quantile):
    with pytest.raises(th.errors.ParameterError, match=r"quantile=.* strictly between 0 and 1"):
        th.QuantileRegressor(quantile=quantile).fit(X, Y)


def test_other_bad_parameters_and_data():
    with pytest.raises(th.errors.ParameterError, match="alpha"):
        th.QuantileRegressor(alpha=-1.0).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"solver='high'.*Did you mean 'highs'"):
        th.QuantileRegressor(solver="high").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"solver_options\['tol'\]"):
        th.QuantileRegressor(solver_options={"tol": -1.0}).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.QuantileRegressor().fit(X, np.where(np.arange(N) == 3, np.nan, Y))
    with pytest.raises(th.errors.DataError, match="infinity"):
        th.QuantileRegressor().fit(np.where(X > 2, np.inf, X), Y)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        th.QuantileRegressor(alpha=0.0, solver_options={"maxiter": 1}).fit(X, Y)


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_columns_far_from_zero_lose_no_digits(offset):
    """Years and timestamps: next to the intercept's column they look constant."""
    plain = th.QuantileRegressor(alpha=0.0).fit(X, Y)
    far = th.QuantileRegressor(alpha=0.0).fit(X + offset, Y)
    np.testing.assert_allclose(far.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(far.predict(X + offset), plain.predict(X), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(far.solution_.theta[: X.shape[1]], far.coef_)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
def test_coefficients_that_are_zero_are_exactly_zero(alpha):
    """Fewer than half of the targets are 1, and no column tells which: the median is 0."""
    for seed in (0, 2, 3, 4):
        random = np.random.default_rng(seed)
        rows, y = random.normal(size=(40, 5)), random.random(40) < 0.3
        for scale in (1.0, 1e6):
            model = th.QuantileRegressor(alpha=alpha).fit(rows * scale, y)
            np.testing.assert_array_equal(model.coef_, 0.0)
            assert model.intercept_ == 0.0


@pytest.mark.parametrize("model", [th.QuantileRegressor(alpha=0.0), th.RobustRegressor()])
def test_a_constant_column_changes_nothing(model):
    """Nor do the digits that its mean is rounded by make it a column like others."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        n = int(random.integers(8, 60))
        x, y = random.standard_normal((n, 2)), random.standard_normal(n)
        plain = model.fit(x, y).predict(x)
        more = np.insert(x, 1, random.standard_normal(), axis=1)
        np.testing.assert_allclose(model.fit(more, y).predict(more), plain, atol=1e-6)
        assert abs(model.coef_).max() < 10


@pytest.mark.parametrize("apart", [1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("options", [{"quantile": 0.3}, {"fit_intercept": False}])
def test_nearly_collinear_columns_reach_the_optimum(apart, options):
    """The products of such columns hold no digits of their difference, which fits y best here."""
    random = np.random.default_rng(3)
    first, second, difference = random.standard_normal((3, 80))
    X = np.column_stack([first, first + apart * difference, second]) + 5.0
    exact = np.column_stack([first + 5.0, (X[:, 1] - X[:, 0]) / apart, second + 5.0])
    y = exact @ [1.0, 2.0, -1.0] + random.standard_normal(80)
    weight = random.integers(0, 3, 80)

    def loss(rows):
        model = th.QuantileRegressor(alpha=0.0, **options).fit(rows, y, weight)
        assert model.solution_.outcome.success
        residual = y - model.predict(rows)
        level = options.get("quantile", 0.5)
        return np.sum(weight * np.maximum(level * residual, (level - 1) * residual))

    assert loss(X) == pytest.approx(loss(exact), rel=1e-4)


def test_equal_columns_share_their_coefficient():
    random = np.random.default_rng(4)
    X = random.standard_normal((60, 2))
    y = X @ [2.0, 1.0] + 0.1 * random.standard_normal(60)
    model = th.QuantileRegressor(alpha=0.0).fit(np.column_stack([X, X[:, 0]]), y)
    plain = th.QuantileRegressor(alpha=0.0).fit(X, y)
    expected = [plain.coef_[0] / 2, plain.coef_[1], plain.coef_[0] / 2]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-9)
