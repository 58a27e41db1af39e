"""Rules for the length and direction of steps."""

import math

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import LeastSquares

opt = th.optimizers


@pytest.mark.parametrize(
    "rule",
    [opt.Constant(0.3), opt.HeavyBall(0.5, 0.2), opt.LookAhead(0.5, 0.2), opt.AdaGrad(1.0)],
    ids=lambda rule: rule.name,
)
def test_rules_drive_full_and_sampled_gradients(rule):
    problem = LeastSquares.random()
    full = th.minimise(problem, opt.GradientDescent(step=rule))
    np.testing.assert_allclose(full.theta, problem.optimum, atol=1e-6)
    assert full.outcome is th.results.Outcome.CONVERGED


def test_adam_comes_near_from_far():
    problem = LeastSquares.random()
    method = opt.StochasticGradient(8, step=opt.Adam(0.05), random_state=0)
    solution = th.minimise(problem, method, np.full(4, 3.0), max_steps=100)
    np.testing.assert_allclose(solution.theta, problem.optimum, atol=0.1)


def test_adam_by_hand():
    rule = opt.Adam(eta=0.1, beta1=0.5, beta2=0.75, epsilon=1e-12)
    memory = rule.start(np.zeros(1))
    _, memory = rule.move(1, np.array([2.0]), memory)
    move, _ = rule.move(2, np.array([4.0]), memory)
    first = (0.5 * 1.0 + 0.5 * 4.0) / (1 - 0.25)
    second = (0.75 * 1.0 + 0.25 * 16.0) / (1 - 0.75**2)
    np.testing.assert_allclose(move, -0.1 * first / math.sqrt(second))


def test_adagrad_by_hand():
    rule, memory = opt.AdaGrad(eta=0.5), np.zeros(1)
    for t, gradient in enumerate((3.0, 4.0), start=1):
        move, memory = rule.move(t, np.array([gradient]), memory)
    np.testing.assert_allclose(move, -0.5 * 4 / 5)
