"""Proximal gradients, subgradients and reweighting."""

import itertools

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import LeastSquares

opt = th.optimizers


class Penalised(LeastSquares):
    """Least squares with a penalty of the library."""

    penalty = th.penalties.L1(0.2)

    def nonsmooth_value(self, theta):
        return self.penalty.value(theta)

    def prox(self, theta, step):
        return self.penalty.prox(theta, step)

    def optimality_gap(self, theta, gradient):
        return self.penalty.optimality_gap(theta, gradient)


@pytest.mark.parametrize(
    "penalty",
    [
        th.penalties.L1(0.2),
        th.penalties.ElasticNet(0.3, 0.5),
        th.penalties.L1(0.1) & th.penalties.NonNegative(),
        th.penalties.Box(-0.05, 0.05),
    ],
    ids=str,
)
def test_proximal_gradient_agrees_with_coordinate_descent(penalty):
    problem = Penalised.random(seed=4)
    problem.penalty = penalty
    quadratic = LeastSquares.separable_quadratic(problem)
    l1, l2, lower, upper = penalty.kernel_terms(4)
    swept = opt.SeparableQuadratic(
        quadratic.gram, quadratic.linear, quadratic.constant, l1, l2, lower, upper
    )
    one = th.minimise(problem, opt.ProximalGradient(), tolerance=1e-11)
    other = th.minimise(swept, opt.CoordinateDescent(), tolerance=1e-11)
    assert one.outcome is other.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-9)
    assert one.value == pytest.approx(other.value, abs=1e-12)


def test_restarts_make_acceleration_linear():
    """Condition 100: about 200 steps; without restarts the momentum swings for 2,000."""
    problem = LeastSquares(np.diag(np.sqrt(np.logspace(0, 2, 20))), np.zeros(20))
    solution = th.minimise(problem, opt.ProximalGradient(), np.ones(20), tolerance=1e-8 / 20)
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert solution.steps < 500


def test_proximal_gradient_leaves_zero_under_a_count_penalty():
    """Under L0 zero is stationary for every F; a proximal step still leaves it when that pays."""
    problem = Penalised.random()
    problem.y = problem.A @ [5.0, 0.0, 0.0, -4.0]
    problem.penalty = th.penalties.L0(0.1)
    solution = th.minimise(problem, opt.ProximalGradient())
    np.testing.assert_allclose(solution.theta, [5, 0, 0, -4], atol=1e-6)


def test_subgradient_descent_finds_a_median():
    data = np.array([-7.0, 1.0, 2.0, 3.0, 50.0])

    class Distance:
        def value_and_subgradient(self, theta):
            return float(np.abs(theta - data).sum()), np.sign(theta - data).sum(keepdims=True)

    solution = th.minimise(Distance(), opt.SubgradientDescent(), np.array([10.0]), max_steps=3000)
    np.testing.assert_allclose(solution.theta, 2.0, atol=0.05)


def test_irls_finds_the_geometric_median():
    points = np.random.default_rng(0).normal(size=(15, 2))

    class Distances:
        def value(self, theta):
            return float(np.linalg.norm(points - theta, axis=1).sum())

        def majoriser(self, theta):
            weight = 1 / np.linalg.norm(points - theta, axis=1)
            return weight @ (theta - points), weight.sum() * np.eye(2)

    solution = th.minimise(Distances(), opt.IRLS(), np.full(2, 9.0), keep_trace=True)
    assert all(b <= a + 1e-14 for a, b in itertools.pairwise(solution.trace))
    assert solution.outcome is th.results.Outcome.CONVERGED
    pull = (solution.theta - points) / np.linalg.norm(points - solution.theta, axis=1)[:, None]
    np.testing.assert_allclose(pull.sum(axis=0), 0, atol=1e-7)
