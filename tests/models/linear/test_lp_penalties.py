"""Penalties of order 2, 1 and 0, constrained and Lagrangian: one interface, the same solutions."""

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
