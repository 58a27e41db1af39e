"""Gauss-Newton, Levenberg and Levenberg-Marquardt."""

import math

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import (
    ROSENBROCK_START,
    LeastSquares,
    Rosenbrock,
    every,
)
from thetahat.mathematics.optimizers.residuals.damped_least_squares import damped_step

opt = th.optimizers


class Decay:
    """y = b₀·exp(b₁ t) with noise."""

    def __init__(self):
        self.t = np.linspace(0, 3, 20)
        noise = 0.05 * np.random.default_rng(0).normal(size=20)
        self.y = 3 * np.exp(-0.7 * self.t) + noise

    def residuals(self, b):
        return b[0] * np.exp(b[1] * self.t) - self.y

    def jacobian(self, b):
        curve = np.exp(b[1] * self.t)
        return np.stack([curve, b[0] * self.t * curve], axis=1)


def test_gauss_newton_step():
    """Δ = (JᵀJ)⁻¹Jᵀ(Y − f)."""
    problem, b = Decay(), np.array([2.0, -0.5])
    J, r = problem.jacobian(b), problem.residuals(b)
    state = opt.GaussNewton().advance(problem, opt.GaussNewton().start(problem, b))
    np.testing.assert_allclose(state.theta, b + np.linalg.solve(J.T @ J, J.T @ -r))


@every([opt.GaussNewton, opt.Levenberg, opt.LevenbergMarquardt])
def test_non_linear_least_squares_agrees_with_scipy(kind):
    from scipy.optimize import least_squares

    problem, b = Decay(), np.array([2.0, -0.5])
    peer = least_squares(problem.residuals, b, problem.jacobian, xtol=1e-15, ftol=1e-15)
    solution = th.minimise(problem, kind(), b)
    np.testing.assert_allclose(solution.theta, peer.x, rtol=1e-6)
    assert solution.value == pytest.approx(peer.cost)
    assert solution.outcome is th.results.Outcome.CONVERGED


def test_gauss_newton_takes_the_least_norm_step_where_j_has_not_full_rank():
    problem = LeastSquares.random()
    problem.A[:, 3] = problem.A[:, 0]
    solution = th.minimise(problem, opt.GaussNewton())
    np.testing.assert_allclose(solution.theta, problem.optimum, atol=1e-10)


@pytest.mark.parametrize("marquardt", [False, True])
def test_damped_steps_and_their_limits(marquardt):
    problem, b = Decay(), np.array([2.0, -0.5])
    J, r = problem.jacobian(b), problem.residuals(b)
    gram = J.T @ J
    metric = np.diag(gram) if marquardt else np.ones(2)
    step = damped_step(J, r, 0.3, metric)
    damped = gram * (1 + 0.3 * np.eye(2)) if marquardt else gram + 0.3 * np.eye(2)
    np.testing.assert_allclose(step, np.linalg.solve(damped, -J.T @ r))
    np.testing.assert_allclose(damped_step(J, r, 1e-14, metric), np.linalg.solve(gram, -J.T @ r))
    gradient_step = -(J.T @ r) / (1e9 * metric)
    np.testing.assert_allclose(damped_step(J, r, 1e9, metric), gradient_step, rtol=1e-6)


@pytest.mark.parametrize("kind", [opt.Levenberg, opt.LevenbergMarquardt])
def test_step_control(kind):
    """τ₀ = 0.1; τ/√2 after a step that lowers the residual, √2·τ and a retry otherwise."""
    problem, b, tau = Rosenbrock(), ROSENBROCK_START, 0.1
    assert kind().tau0 == 0.1
    state, rejected = kind().start(problem, b), 0
    for _ in range(8):
        state = kind().advance(problem, state)
        J, r = problem.jacobian(b), problem.residuals(b)
        metric = np.ones(2) if kind is opt.Levenberg else np.sum(J * J, axis=0)
        while True:
            trial = b + np.linalg.solve(J.T @ J + tau * np.diag(metric), -J.T @ r)
            if np.sum(problem.residuals(trial) ** 2) < np.sum(r**2):
                break
            tau, rejected = tau * math.sqrt(2), rejected + 1
        b, tau = trial, tau / math.sqrt(2)
        np.testing.assert_allclose(state.theta, b)
        assert state.memory["tau"] == pytest.approx(tau)
    assert rejected > 0


def test_marquardt_forgets_units_and_levenberg_does_not():
    class Rescaled(Decay):
        def residuals(self, b):
            return super().residuals(b * [1, 1e-3])

        def jacobian(self, b):
            return super().jacobian(b * [1, 1e-3]) * [1, 1e-3]

    for kind, same in ((opt.LevenbergMarquardt, True), (opt.Levenberg, False)):
        one = th.minimise(Decay(), kind(), np.array([2.0, -0.5]), max_steps=2, tolerance=0.0)
        other = th.minimise(Rescaled(), kind(), np.array([2.0, -500.0]), max_steps=2, tolerance=0.0)
        assert np.allclose(one.theta, other.theta * [1, 1e-3], rtol=1e-8) is same


def test_levenberg_marquardt_stalls_at_rounding_instead_of_looping():
    solution = th.minimise(Decay(), opt.LevenbergMarquardt(), np.array([2.0, -0.5]), tolerance=0.0)
    assert solution.outcome is th.results.Outcome.STALLED
    assert solution.gap < 1e-6


def test_gauss_newton_may_overshoot_where_levenberg_marquardt_does_not():
    """f = arctan far from 0: the tangent step overshoots ever further, to a higher plateau."""

    class Flat:
        def residuals(self, b):
            return np.arctan(b)

        def jacobian(self, b):
            return np.diag(1 / (1 + b**2))

    wild = th.minimise(Flat(), opt.GaussNewton(), np.array([3.0]), max_steps=50)
    assert wild.outcome is th.results.Outcome.STALLED
    assert wild.theta == 3.0
    tame = th.minimise(Flat(), opt.LevenbergMarquardt(), np.array([3.0]))
    np.testing.assert_allclose(tame.theta, 0, atol=1e-7)
