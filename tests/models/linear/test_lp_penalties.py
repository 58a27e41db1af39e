"""Penalties of order 2, 1 and 0, constrained and Lagrangian: one interface, the same solutions."""

from itertools import combinations

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 150
X = RANDOM.standard_normal((N, 8)) * RANDOM.uniform(0.5, 2.0, 8)
Y = X @ np.array([3.0, -2.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0]) + 2.0 + RANDOM.standard_normal(N)
LEAST_SQUARES = th.LinearRegression().fit(X, Y)


def fit(penalty):
    return th.LinearModel(penalty=penalty, tol=1e-10).fit(X, Y)


@pytest.mark.parametrize("tau", [1.0, 20.0, 200.0])
def test_order_2_constrained_is_lagrangian_with_its_multiplier(tau):
    """min ‖Xβ − y‖² + τ‖β‖₂² and min ‖Xβ − y‖² with ‖β‖² ≤ t."""
    penalised = fit(th.penalties.L2(alpha=tau / N))
    radius = np.linalg.norm(penalised.coef_)
    constrained = fit(th.penalties.L2Ball(radius))
    np.testing.assert_allclose(constrained.coef_, penalised.coef_, atol=1e-7)
    ridge = th.Ridge(norm_bound=radius**2).fit(X, Y)
    assert ridge.alpha_ == pytest.approx(tau, rel=1e-4)
    np.testing.assert_allclose(ridge.coef_, penalised.coef_, atol=1e-6)


@pytest.mark.parametrize("tau", [5.0, 60.0, 300.0])
def test_order_1_constrained_is_lagrangian_with_its_multiplier(tau):
    """min ‖Xβ − y‖² + τ‖β‖₁ and min ‖Xβ − y‖² with ‖β‖₁ ≤ t."""
    penalised = fit(th.penalties.L1(alpha=tau / (2 * N)))
    constrained = fit(th.penalties.L1Ball(np.abs(penalised.coef_).sum()))
    np.testing.assert_allclose(constrained.coef_, penalised.coef_, atol=1e-6)
    assert constrained.solution_.outcome.success
    residual = Y - constrained.predict(X)
    slopes = 2 * np.abs((X - X.mean(axis=0)).T @ residual)
    assert slopes.max() == pytest.approx(tau, rel=1e-5)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_order_0_constrained_is_lagrangian_between_its_steps(size):
    """min ‖Xβ − y‖² + τ‖β‖₀ has k non-zeros while τ is between what the last and the next save."""
    constrained = th.BestSubset(max_features=size).fit(X, Y)
    drops = -np.diff(th.BestSubset(criterion="rss").fit(X, Y).rss_)
    tau = np.sqrt(drops[size - 1] * drops[size])
    penalised = th.BestSubset(tau=tau).fit(X, Y)
    np.testing.assert_array_equal(penalised.coef_, constrained.coef_)
    assert np.count_nonzero(penalised.coef_) == size


def smallest_counted_objective(X, y, weight, alpha, intercept):
    """min Σ w(y − z)²/(2 Σ w) + α‖β‖₀ over every subset, one at a time, and the subset."""
    root, d = np.sqrt(weight), X.shape[1]
    found = (np.inf, ())
    for size in range(d + 1):
        for members in combinations(range(d), size):
            design = X[:, list(members)]
            if intercept:
                design = np.column_stack([design, np.ones(len(y))])
            beta = np.linalg.lstsq(root[:, None] * design, root * y, rcond=None)[0]
            squares = np.sum(weight * (y - design @ beta) ** 2)
            found = min(found, (squares / (2 * weight.sum()) + alpha * size, members))
    return found


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(30, 6), (5, 7)])
@pytest.mark.parametrize("seed", range(5))
def test_order_0_lagrangian_finds_what_brute_force_finds(seed, shape, intercept):
    """Correlated columns: a method of small steps stops at other subsets here."""
    random, (n, d) = np.random.default_rng(seed), shape
    X = random.standard_normal((n, d)) @ random.standard_normal((d, d))
    y = X @ (random.standard_normal(d) * (random.random(d) < 0.5)) + random.standard_normal(n) + 1.0
    weight = random.integers(1, 4, n).astype(float)
    for alpha in (0.05, 0.3, 2.0):
        value, members = smallest_counted_objective(X, y, weight, alpha, intercept)
        model = th.LinearModel(penalty=th.penalties.L0(alpha), fit_intercept=intercept)
        model.fit(X, y, weight)
        assert model.solution_.outcome is th.results.Outcome.EXACT
        assert model.solution_.value == pytest.approx(value, rel=1e-9)
        assert tuple(np.flatnonzero(model.coef_)) == members


def test_order_0_is_the_best_subset_with_its_price():
    penalised = fit(th.penalties.L0(alpha=0.02))
    searched = th.BestSubset(tau=2 * N * 0.02).fit(X, Y)
    np.testing.assert_array_equal(penalised.coef_, searched.coef_)
    assert penalised.intercept_ == searched.intercept_


@pytest.mark.parametrize(
    ("loss", "columns", "solver"),
    [("squared", 45, "auto"), ("huber", 8, "auto"), ("squared", 8, "proximal_gradient")],
)
def test_order_0_without_a_search_says_that_the_minimum_is_local(loss, columns, solver):
    wide = np.random.default_rng(1).standard_normal((N, columns))
    model = th.LinearModel(loss, th.penalties.L0(0.05), solver=solver).fit(wide, Y)
    assert model.solution_.outcome is th.results.Outcome.LOCAL
    assert "local" in model.solution_.message


def test_exact_search_is_refused_for_many_columns():
    wide = np.random.default_rng(1).standard_normal((N, 45))
    with pytest.raises(th.errors.CapabilityError, match=r"at most 40 columns .* there are 45"):
        th.LinearModel(penalty="l0", solver="least_squares").fit(wide, Y)


def test_a_small_bound_makes_orders_1_and_0_sparse_and_not_order_2():
    zeros = {
        2: [fit(th.penalties.L2Ball(t)) for t in (0.5, 2.0)],
        1: [fit(th.penalties.L1Ball(t)) for t in (0.5, 2.0)],
        0: [th.BestSubset(max_features=t).fit(X, Y) for t in (1, 3)],
    }
    counts = {p: [int((model.coef_ == 0).sum()) for model in fits] for p, fits in zeros.items()}
    assert counts[2] == [0, 0]
    assert counts[0] == [7, 5]
    assert counts[1][0] >= counts[1][1] >= 5


def test_a_large_bound_is_least_squares():
    loose = np.abs(LEAST_SQUARES.coef_).sum() + 1.0
    for model in (
        fit(th.penalties.L1Ball(loose)),
        fit(th.penalties.L2Ball(loose)),
        th.BestSubset(max_features=8).fit(X, Y),
    ):
        np.testing.assert_allclose(model.coef_, LEAST_SQUARES.coef_, atol=1e-7)


@pytest.mark.parametrize("ball", [th.penalties.L1Ball(0.7), th.penalties.L2Ball(0.7)])
def test_balls_bound_other_losses_too(ball):
    labels = (Y > np.median(Y)).astype(float)
    model = th.LinearModel(loss="logistic", penalty=ball).fit(X, labels)
    assert model.solution_.outcome.success
    order = 1 if isinstance(ball, th.penalties.L1Ball) else 2
    assert np.linalg.norm(model.coef_, order) == pytest.approx(0.7)
