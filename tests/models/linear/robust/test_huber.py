"""Huber regression with its scale: the optimum of one convex problem, and outliers by name."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.data.chunked import Chunked, OnlyBlocks
from thetahat.data.validation import as_source
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.huber_scale import HuberWithScale

RANDOM = np.random.default_rng(0)
N = 400
X = RANDOM.standard_normal((N, 4)) * [1.0, 5.0, 0.2, 1.0] + [0.0, 3.0, 0.0, -1.0]
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + 0.5 * RANDOM.standard_normal(N)
WRONG = RANDOM.choice(N, 40, replace=False)
Y[WRONG] += RANDOM.choice([-1, 1], 40) * RANDOM.uniform(10, 50, 40)


def objective(model, x=X, y=Y, weight=None):
    """scikit-learn's: Σ w(σ + H(r/σ)σ) + α‖β‖²."""
    sigma, epsilon = model.scale_, model.epsilon
    size = abs(y - x @ model.coef_ - model.intercept_) / sigma
    loss = np.where(size <= epsilon, size**2, 2 * epsilon * size - epsilon**2)
    weight = np.ones(len(y)) if weight is None else weight
    return np.sum(weight * sigma * (1 + loss)) + model.alpha * model.coef_ @ model.coef_


@pytest.mark.parametrize("epsilon", [1.1, 1.35, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 50.0])
def test_the_optimum_is_at_least_as_low_as_scikit_learns(epsilon, alpha):
    settings = {"epsilon": epsilon, "alpha": alpha}
    ours = th.HuberRegressor(**settings).fit(X, Y)
    theirs = sklearn.linear_model.HuberRegressor(**settings, max_iter=5000, tol=1e-8).fit(X, Y)
    assert ours.solution_.outcome is th.results.Outcome.CONVERGED
    assert objective(ours) <= objective(theirs) * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=2e-3)


def test_solution_is_the_objective_and_no_move_lowers_it():
    random = np.random.default_rng(1)
    model = th.HuberRegressor(alpha=0.1).fit(X, Y)
    best = objective(model)
    assert model.solution_.value * N == pytest.approx(best, rel=1e-12)
    for _ in range(50):
        moved = th.HuberRegressor(alpha=0.1)
        moved.coef_ = model.coef_ + 1e-4 * random.standard_normal(4)
        moved.intercept_ = model.intercept_ + 1e-4 * random.standard_normal()
        moved.scale_ = model.scale_ * (1 + 1e-3 * random.standard_normal())
        assert objective(moved) > best


@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_value(weighted):
    random = np.random.default_rng(2)
    weight = random.uniform(0, 2, N) if weighted else None
    problem = HuberWithScale(LinearPredictor(4), 1.35, 8.0, as_source(X, Y, weight))
    theta = problem.start()
    for _ in range(3):  # the first point forms the Gram matrix, the others correct it
        theta = theta + 0.1 * abs(theta) * random.uniform(-1, 1, 6)
        th.optimizers.check_gradient(
            problem.value, lambda at: problem.value_and_gradient(at)[1], theta, tolerance=1e-5
        ).require()
        step = 1e-7 * random.standard_normal(6)
        change = problem.value_and_gradient(theta + step)[1] - problem.value_and_gradient(theta)[1]
        np.testing.assert_allclose(problem.hessian(theta) @ step, change, rtol=1e-3, atol=1e-11)


def test_outliers_are_labelled():
    model = th.HuberRegressor(epsilon=2.5).fit(X, Y)
    assert model.outliers_[WRONG].all()
    assert model.outliers_.mean() < 0.2
    residual = abs(Y - model.predict(X))
    np.testing.assert_array_equal(model.outliers_, residual > 2.5 * model.scale_)


def test_scaling_y_scales_the_fit():
    plain = th.HuberRegressor(alpha=0.0, tol=1e-9).fit(X, Y)
    scaled = th.HuberRegressor(alpha=0.0, tol=1e-9).fit(X, 1000.0 * Y)
    np.testing.assert_allclose(scaled.coef_, 1000.0 * plain.coef_, rtol=1e-7)
    assert scaled.scale_ == pytest.approx(1000.0 * plain.scale_)
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)


def test_a_start_on_a_sample_leads_to_the_same_optimum():
    random = np.random.default_rng(3)
    x = random.standard_normal((3000, 3))
    y = x @ [1.0, 2.0, 3.0] + random.standard_t(1, 3000)
    whole = th.HuberRegressor(tol=1e-9).fit(x, y)
    rows = Chunked(X=x, y=y, n_features=3, has_target=True)
    stream = th.HuberRegressor(tol=1e-9).fit(OnlyBlocks(rows=rows, n_features=3, has_target=True))
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_array_equal(stream.outliers_, whole.outliers_)
    sparse = th.HuberRegressor(tol=1e-9).fit(sp.csr_array(x), y)
    np.testing.assert_allclose(sparse.coef_, whole.coef_, rtol=1e-9)


def test_warm_start_needs_no_step():
    model = th.HuberRegressor(warm_start=True).fit(X, Y)
    assert model.n_iter_ > 0
    assert model.fit(X, Y).n_iter_ == 0


def test_scale_zero_is_the_absolute_loss():
    """More rows on one plane than 1 − 1/ε²: the optimum has σ = 0."""
    random = np.random.default_rng(4)
    y = X @ [1.0, 2.0, 3.0, 4.0] - 1.0
    exact = th.HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(exact.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-9)
    assert exact.scale_ < 1e-8
    assert not exact.outliers_.any()
    y[: N // 3] += 100 * random.standard_normal(N // 3)
    mostly = th.HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(mostly.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-9)
    assert "absolute loss" in mostly.solution_.reason
    assert mostly.outliers_.sum() == N // 3


@pytest.mark.parametrize("level", [0.0, 5.0])
def test_a_constant_target(level):
    model = th.HuberRegressor().fit(X, np.full(N, level))
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
    assert model.intercept_ == pytest.approx(level)


def test_dependent_columns_few_rows_and_huge_penalties():
    twice = np.column_stack([X, X[:, 1]])
    model = th.HuberRegressor(alpha=0.0, tol=1e-9).fit(twice, Y)
    plain = th.HuberRegressor(alpha=0.0, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(model.predict(twice), plain.predict(X), rtol=1e-6, atol=1e-6)
    few = th.HuberRegressor().fit(X[:3], Y[:3])
    np.testing.assert_allclose(few.predict(X[:3]), Y[:3], atol=1e-2)
    flat = th.HuberRegressor(alpha=1e12).fit(X, Y)
    np.testing.assert_allclose(flat.coef_, 0.0, atol=1e-8)
    same = th.HuberRegressor().fit(np.repeat(X[:1], 50, axis=0), np.arange(50.0))
    assert np.isfinite(same.intercept_)


@pytest.mark.parametrize("epsilon", [0.999, 0.5, -1.0, np.nan, "wide"])
def test_epsilon_must_be_at_least_1(epsilon):
    with pytest.raises(th.errors.ParameterError, match=r"epsilon=.* must be a number ≥ 1"):
        th.HuberRegressor(epsilon=epsilon).fit(X, Y)


def test_other_bad_input():
    with pytest.raises(th.errors.ParameterError, match="alpha"):
        th.HuberRegressor(alpha=-1.0).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.HuberRegressor().fit(np.where(X > 2, np.nan, X), Y)
    with pytest.raises(th.errors.DataError, match="infinity"):
        th.HuberRegressor().fit(X, np.where(np.arange(N) == 7, np.inf, Y))
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        th.HuberRegressor(max_iter=1).fit(X, Y)


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_columns_far_from_zero_lose_no_digits(offset):
    """Years and timestamps: next to the intercept's column they look constant."""
    plain = th.HuberRegressor(alpha=0.0).fit(X, Y)
    far = th.HuberRegressor(alpha=0.0).fit(X + offset, Y)
    np.testing.assert_allclose(far.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(far.predict(X + offset), plain.predict(X), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(far.solution_.theta[: X.shape[1]], far.coef_)


@pytest.mark.parametrize(("shape", "seed", "alpha"), [((8, 5), 15, 1.0), ((20, 11), 1, 1e-4)])
def test_a_small_scale_is_not_taken_for_none(shape, seed, alpha):
    """Few rows for the columns: the scale comes near 0 on the way, and its optimum is above."""
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    y = x @ random.normal(size=shape[1]) + random.standard_t(2, size=shape[0])
    ours = th.HuberRegressor(alpha=alpha).fit(x, y)
    theirs = sklearn.linear_model.HuberRegressor(alpha=alpha, max_iter=5000).fit(x, y)
    assert ours.solution_.outcome is th.results.Outcome.CONVERGED
    assert objective(ours, x, y) <= objective(theirs, x, y) * (1 + 1e-9)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-2)


@pytest.mark.parametrize("seed", range(4))
def test_a_penalty_leaves_a_scale_to_fewer_rows_than_columns(seed):
    """Least squares fits every row; under the penalty that is far from the optimum."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(9, 10)) * 10 ** random.uniform(-2, 2, 10)
    y = np.round(x @ random.normal(size=10) + random.standard_t(2, size=9))
    ours = th.HuberRegressor(alpha=100.0, epsilon=3.0).fit(x, y)
    theirs = sklearn.linear_model.HuberRegressor(alpha=100.0, epsilon=3.0, max_iter=5000)
    theirs.fit(x, y)
    assert ours.solution_.outcome is th.results.Outcome.CONVERGED
    assert objective(ours, x, y) <= objective(theirs, x, y) * (1 + 1e-9)


@pytest.mark.parametrize("seed", [0, 2])
def test_few_rows_for_the_columns_without_a_penalty(seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(20, 15))
    y = x @ random.normal(size=15) + random.standard_t(2, size=20)
    model = th.HuberRegressor(alpha=0.0).fit(x, y)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    lines = sklearn.linear_model.QuantileRegressor(alpha=0.0).fit(x, y)
    absolute = 2 * 1.35 * abs(y - lines.predict(x)).sum()
    assert objective(model, x, y) <= absolute * (1 + 1e-8)
    assert model.n_iter_ <= model.max_iter


def test_steps_of_all_phases_count_towards_max_iter():
    random = np.random.default_rng(0)
    x = random.normal(size=(20, 15))
    y = x @ random.normal(size=15) + random.standard_t(2, size=20)
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        model = th.HuberRegressor(alpha=0.0, max_iter=31).fit(x, y)
    assert model.n_iter_ == 31
    random = np.random.default_rng(0)
    x = random.normal(size=(8, 5))
    y = x @ random.normal(size=5) + random.standard_t(2, size=8)
    assert th.HuberRegressor().fit(x, y).n_iter_ <= 100


@pytest.mark.parametrize(("shape", "seed"), [((4, 5), 7), ((6, 8), 6), ((10, 12), 5)])
def test_rows_of_weight_0_do_not_count_among_more_columns(shape, seed):
    random = np.random.default_rng(seed)
    x, y = random.normal(size=shape), random.normal(size=shape[0])
    weight = random.integers(0, 3, shape[0]).astype(float)
    weight[0] = 1.0
    kept = weight > 0
    whole = th.HuberRegressor().fit(x, y, sample_weight=weight)
    fewer = th.HuberRegressor().fit(x[kept], y[kept], sample_weight=weight[kept])
    assert whole.solution_.outcome.success
    np.testing.assert_allclose(whole.coef_, fewer.coef_, rtol=1e-9, atol=1e-9)


def test_the_majoriser_touches_from_above():
    random = np.random.default_rng(5)
    problem = HuberWithScale(LinearPredictor(4), 1.35, 8.0, as_source(X, Y))
    theta = problem.start()
    value, gradient = problem.value_and_gradient(theta)
    slope, above = problem.majoriser(theta)
    np.testing.assert_array_equal(slope, gradient)
    assert np.linalg.eigvalsh(above - problem.hessian(theta)).min() >= -1e-9
    for _ in range(20):
        step = 1e-3 * random.standard_normal(6)
        bound = value + slope @ step + step @ above @ step / 2
        assert problem.value(theta + step) <= bound + 1e-7


def test_epsilon_1_is_the_absolute_loss():
    model = th.HuberRegressor(epsilon=1.0, alpha=0.0).fit(X, Y)
    lines = sklearn.linear_model.QuantileRegressor(alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, lines.coef_, rtol=1e-6, atol=1e-6)
    assert model.scale_ < 1e-6


def test_outliers_cost_no_halved_steps(monkeypatch):
    random = np.random.default_rng(0)
    rows = random.standard_normal((400, 20))
    y = rows[:, 0] + 0.5 * random.standard_normal(400)
    y[::20] += 100 * random.standard_normal(20)
    evaluate, points = HuberWithScale.value_and_gradient, []

    def counted(self, theta):
        points.append(theta)
        return evaluate(self, theta)

    monkeypatch.setattr(HuberWithScale, "value_and_gradient", counted)
    model = th.HuberRegressor().fit(rows, y)
    assert model.solution_.outcome.success
    assert len(points) <= 8  # 30 from the least-squares fit


def test_an_interrupt_before_the_first_step_keeps_the_start(monkeypatch):
    best = th.HuberRegressor().fit(X, Y).coef_

    def interrupted(self, theta):
        raise KeyboardInterrupt

    monkeypatch.setattr(HuberWithScale, "value_and_gradient", interrupted)
    model = th.HuberRegressor()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    squares = np.linalg.lstsq(np.c_[X, np.ones(N)], Y)[0][:4]
    assert np.max(abs(model.coef_ - best)) < np.max(abs(squares - best)) / 5
    assert model.scale_ > 0


def test_an_interrupt_on_the_way_to_scale_0_keeps_coefficients_and_scale(monkeypatch):
    random = np.random.default_rng(0)
    x = random.normal(size=(20, 15))
    y = x @ random.normal(size=15) + random.standard_t(2, size=20)

    def interrupted(self, problem, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(th.optimizers.InteriorPoint, "advance", interrupted)
    model = th.HuberRegressor(alpha=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    assert model.coef_.shape == (15,)
    assert 0 < model.scale_ < 1e-6


@pytest.mark.parametrize("size", [1e-160, 1e-100, 1e160])
def test_targets_of_any_size(size):
    plain = th.HuberRegressor(alpha=0.0).fit(X, Y)
    scaled = th.HuberRegressor(alpha=0.0, warm_start=True).fit(X, Y * size)
    np.testing.assert_allclose(scaled.coef_ / size, plain.coef_, rtol=1e-9)
    assert scaled.scale_ / size == pytest.approx(plain.scale_)
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)
    assert scaled.solution_.value / size == pytest.approx(plain.solution_.value)
    assert scaled.fit(X, Y * size).n_iter_ == 0


@pytest.mark.parametrize("model", [th.HuberRegressor(), th.RobustRegressor("tukey")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_whose_squares_overflow_or_vanish_are_refused(model, form):
    wide = X * [1.0, 1.0, 1e160, 1.0]
    with pytest.raises(th.errors.DataError, match=r"Column 2 is so large .* Rescale the column"):
        model.fit(form(wide), Y)
    with pytest.raises(th.errors.DataError, match=r"so small that their squares underflow"):
        model.fit(form(X * 1e-160), Y)
