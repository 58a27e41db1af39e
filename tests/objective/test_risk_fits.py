"""Every loss is fitted to its optimum, beside peers and worked numbers."""

import math

import numpy as np
import pytest

import thetahat as th
from tests.objective.risk_cases import draw, every, risk_of, somewhere
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import (
    Curved,
    Reweightable,
    Smooth,
    Subdifferentiable,
)
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

opt, losses, penalties = th.optimizers, th.losses, th.penalties


@every(Subdifferentiable)
def test_auto_fits_every_loss_no_worse_than_any_other_start(loss):
    risk = risk_of(loss)
    method, reason = method_for(risk)
    solution = th.minimise(risk, method, reason=reason)
    assert solution.reason == reason or solution.outcome is th.results.Outcome.EXACT
    if method.reaches_optimum:
        assert solution.outcome.success
    slack = 1e-7 if method.reaches_optimum else 5e-3
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.03, 0.3):
        for _ in range(20):
            other = solution.theta + size * rng.normal(size=solution.theta.shape)
            assert risk.value(other) > solution.value - slack


@every(Smooth)
def test_smooth_methods_agree(loss):
    risk = risk_of(loss)
    start = risk.start()
    found = [
        th.minimise(risk, method, start)
        for method in (opt.Newton(), opt.LBFGS(), opt.ProximalGradient())
        if isinstance(loss, Curved) or not isinstance(method, opt.Newton)
    ]
    for solution in found:
        local = th.results.Outcome.LOCAL
        assert solution.outcome is (th.results.Outcome.CONVERGED if loss.convex else local)
        assert solution.value == pytest.approx(found[0].value, abs=1e-12)


@every(Reweightable)
def test_reweighting_is_weighted_least_squares(loss):
    """One step is the fit with the weights wᵢ·ψ(rᵢ)/rᵢ at the start."""
    X, y, weight = draw(loss)
    risk = risk_of(loss, penalties.NoPenalty())
    theta = somewhere(risk)
    design = np.column_stack([X, np.ones(len(y))])
    root = np.sqrt(weight * loss.irls_weight(y, design @ theta))
    expected = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    state = opt.IRLS().advance(risk, opt.IRLS().start(risk, theta))
    np.testing.assert_allclose(state.theta, expected, rtol=1e-9)


@every(Reweightable)
def test_reweighting_never_raises_the_risk(loss):
    risk = risk_of(loss)
    trace = th.minimise(risk, opt.IRLS(), np.ones(4), keep_trace=True).trace
    assert max(np.diff(trace), default=-1.0) <= 1e-9


def test_logistic_regression_agrees_with_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    X, y, weight = draw(losses.Logistic())
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y, weight)
    risk = risk_of(losses.Logistic(), penalties.L2(1 / (2.0 * weight.sum())))
    coef, intercept = risk.predictor.split(th.minimise(risk, opt.Newton()).theta)
    np.testing.assert_allclose(coef, peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(intercept, peer.intercept_[0], atol=1e-6)


def test_softmax_agrees_with_scikit_learn_and_with_two_classes_is_logistic():
    from sklearn.linear_model import LogisticRegression

    loss = losses.SoftmaxCrossEntropy()
    X, y, weight = draw(loss)
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y, weight)
    alpha = 1 / (2.0 * weight.sum())
    risk = risk_of(loss, penalties.L2(alpha))
    coef, _ = risk.predictor.split(th.minimise(risk, opt.Newton()).theta)
    np.testing.assert_allclose(coef.T, peer.coef_, atol=1e-5)

    binary = (y > 0).astype(float)
    source = as_source(X, binary, weight)
    two = EmpiricalRisk(LinearPredictor(3, 2), loss, penalties.L2(2 * alpha), source)
    one = EmpiricalRisk(LinearPredictor(3), losses.Logistic(), penalties.L2(alpha), source)
    both, _ = two.predictor.split(th.minimise(two, opt.Newton()).theta)
    single, _ = one.predictor.split(th.minimise(one, opt.Newton()).theta)
    np.testing.assert_allclose(both[:, 1] - both[:, 0], single, atol=1e-7)


def test_poisson_regression_agrees_with_scikit_learn():
    from sklearn.linear_model import PoissonRegressor

    X, y, weight = draw(losses.Poisson())
    peer = PoissonRegressor(alpha=0.3, tol=1e-10, max_iter=1000).fit(X, y, weight)
    risk = risk_of(losses.Poisson(), penalties.L2(0.3))
    coef, _ = risk.predictor.split(th.minimise(risk, opt.LBFGS()).theta)
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("method", [opt.CoordinateDescent(), opt.ProximalGradient()])
def test_elastic_net_agrees_with_scikit_learn(method):
    from sklearn.linear_model import ElasticNet

    X, y, weight = draw(losses.Squared())
    peer = ElasticNet(alpha=0.2, l1_ratio=0.7, tol=1e-12, max_iter=100_000).fit(X, y, weight)
    risk = risk_of(losses.Squared(), penalties.ElasticNet(0.2, 0.7))
    solution = th.minimise(risk, method, tolerance=1e-10)
    coef, intercept = risk.predictor.split(solution.theta)
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-8)
    assert intercept == pytest.approx(peer.intercept_, abs=1e-8)
    assert solution.value == pytest.approx(risk.value(solution.theta), rel=1e-12)


def test_lasso_meets_its_optimality_conditions():
    """|∂S/∂β_j| ≤ α where β_j = 0, and ∂S/∂β_j = −α·sign(β_j) elsewhere; ∂S/∂b = 0."""
    alpha = 0.3
    risk = risk_of(losses.Squared(), penalties.L1(alpha))
    for method in (opt.CoordinateDescent(), opt.ProximalGradient()):
        theta = th.minimise(risk, method, tolerance=1e-11).theta
        _, slope = risk.smooth_value_and_gradient(theta)
        coef, active = theta[:3], theta[:3] != 0
        assert active.any()
        assert not active.all()
        np.testing.assert_allclose(slope[:3][active], -alpha * np.sign(coef[active]), atol=1e-9)
        assert (np.abs(slope[:3][~active]) <= alpha + 1e-9).all()
        assert slope[3] == pytest.approx(0, abs=1e-9)


def test_least_absolute_deviations_agree_with_linear_programming():
    from scipy.optimize import linprog

    X, y, weight = draw(losses.Absolute())
    n = len(y)
    design = np.column_stack([X, np.ones(n)])
    cost = np.concatenate([np.zeros(4), weight, weight])
    peer = linprog(
        cost,
        A_eq=np.hstack([design, np.eye(n), -np.eye(n)]),
        b_eq=y,
        bounds=[(None, None)] * 4 + [(0, None)] * (2 * n),
    )
    risk = risk_of(losses.Absolute(), penalties.NoPenalty())
    solution = th.minimise(risk, opt.IRLS())
    assert solution.value == pytest.approx(peer.fun / weight.sum(), abs=1e-6)


def test_a_redescending_loss_starts_from_least_squares():
    """From θ = 0 Tukey's loss is flat: every residual is beyond its reach."""
    X, y, _ = draw(losses.Squared())
    y = 1000 + X @ [1.0, 2.0, 3.0] + 0.1 * (y - y.mean())
    y[:3] += 50
    risk = risk_of(losses.Tukey(), penalties.NoPenalty(), (X, y, None))
    assert th.minimise(risk, opt.IRLS(), np.zeros(4)).steps == 0
    theta = th.minimise(risk, opt.IRLS()).theta
    np.testing.assert_allclose(theta, [1, 2, 3, 1000], atol=0.15)


def test_separable_classes_end_without_noise():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0.0, 0.0, 1.0, 1.0])
    risk = risk_of(losses.Logistic(), penalties.NoPenalty(), (X, y, None))
    for method in (opt.Newton(), opt.LBFGS(), opt.GradientDescent()):
        solution = th.minimise(risk, method, max_steps=200)
        assert np.isfinite(solution.theta).all()
        assert solution.value < 0.02


@every(Subdifferentiable)
def test_huge_scores_make_no_noise(loss):
    """Overflow in a row is a value of the risk, not a warning on the side."""
    X, y, weight = draw(loss)
    risk = risk_of(loss, penalties.NoPenalty(), (1e200 * X, y, weight))
    theta = 1e150 * somewhere(risk)
    value, _ = risk.value_and_subgradient(theta)
    assert value > 0 or math.isnan(value)
