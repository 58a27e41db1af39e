"""Newton's method and L-BFGS: curvature used, singular, negative and absent."""

import math

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import (
    ROSENBROCK_START,
    Function,
    LeastSquares,
    Rosenbrock,
    every,
)
from thetahat.mathematics.optimizers.smooth.newton import newton_direction

opt = th.optimizers


def test_newton_solves_a_quadratic_in_one_step():
    problem = LeastSquares.random()
    solution = th.minimise(problem, opt.Newton(), np.full(4, 100.0))
    assert solution.steps == 1
    np.testing.assert_allclose(solution.theta, problem.optimum, rtol=1e-10)


@pytest.mark.parametrize("duplicate", [2, 3])
def test_newton_takes_the_least_norm_step_where_the_hessian_is_singular(duplicate):
    problem = LeastSquares.random(n=3 if duplicate == 3 else 40)
    problem.A[:, duplicate] = problem.A[:, 0]
    solution = th.minimise(problem, opt.Newton())
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert solution.theta[duplicate] == pytest.approx(solution.theta[0])
    assert problem.value(solution.theta) == pytest.approx(problem.value(problem.optimum), abs=1e-14)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_newton_forgets_the_units_of_its_parameters(unit):
    problem = LeastSquares.random()
    expected = problem.optimum
    problem.A[:, 1] *= unit
    direction = newton_direction(problem.gram, problem.value_and_gradient(np.zeros(4))[1])
    np.testing.assert_allclose(direction * [1, unit, 1, 1], expected, rtol=1e-9)


def test_newton_goes_downhill_from_a_saddle():
    """F = x⁴ − x² + y² has an indefinite Hessian near 0; the minima are at x = ±1/√2."""
    problem = Function(
        lambda p: p[0] ** 4 - p[0] ** 2 + p[1] ** 2,
        lambda p: np.array([4 * p[0] ** 3 - 2 * p[0], 2 * p[1]]),
        lambda p: np.diag([12 * p[0] ** 2 - 2, 2.0]),
    )
    solution = th.minimise(problem, opt.Newton(), np.array([0.1, 1.0]))
    np.testing.assert_allclose(np.abs(solution.theta), [math.sqrt(0.5), 0], atol=1e-8)


def test_newton_counts_negative_curvature_by_its_size():
    direction = newton_direction(np.diag([2.0, -8.0]), np.array([2.0, 8.0]))
    np.testing.assert_allclose(direction, [-1.0, -1.0])


def test_newton_moves_on_a_plane():
    problem = Function(lambda p: p @ [1.0, 2.0], lambda p: [1.0, 2.0], lambda p: np.zeros((2, 2)))
    solution = th.minimise(problem, opt.Newton(), np.zeros(2), max_steps=3)
    assert solution.value < -10


class Separable:
    """Logistic loss of two separable points: F → 0 as θ → ∞, and never arrives."""

    def value_and_gradient(self, theta):
        return float(np.logaddexp(0, -theta[0])), -1 / (1 + np.exp(theta))

    def hessian(self, theta):
        p = 1 / (1 + np.exp(-theta))
        return np.diag(p * (1 - p))


@pytest.mark.parametrize("tolerance", [1e-8, 0.0])
def test_newton_ends_gracefully_where_the_optimum_is_at_infinity(tolerance):
    solution = th.minimise(Separable(), opt.Newton(), np.zeros(1), tolerance=tolerance)
    assert np.isfinite(solution.theta).all()
    assert 0 <= solution.value < 1e-7
    assert solution.outcome is not th.results.Outcome.DIVERGED


@every([opt.Newton, opt.LBFGS, opt.GaussNewton, opt.Levenberg, opt.LevenbergMarquardt])
def test_rosenbrock(kind):
    solution = th.minimise(Rosenbrock(), kind(), ROSENBROCK_START)
    assert solution.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta, [1, 1], atol=1e-7)


def test_lbfgs_goes_beyond_the_rounding_of_the_value():
    """Values of F ≈ 1e6 hide gradients below 0.01; the gradients themselves do not."""
    base = LeastSquares.random()
    high = Function(lambda x: 1e6 + base.value(x), lambda x: base.value_and_gradient(x)[1])
    solution = th.minimise(high, opt.LBFGS(), np.zeros(4))
    assert solution.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta, base.optimum, atol=1e-7)


def test_lbfgs_keeps_the_shape_of_its_parameters():
    target = np.arange(6.0).reshape(2, 3)
    problem = Function(lambda x: np.sum((x - target) ** 2), lambda x: 2 * (x - target))
    solution = th.minimise(problem, opt.LBFGS(), np.zeros((2, 3)))
    np.testing.assert_allclose(solution.theta, target, atol=1e-7)


def test_lbfgs_returns_from_where_f_is_infinite():
    """A barrier: F = x − log(x) is infinite for x ≤ 0; the first trial may land there."""

    def value(x):
        return float(x[0] - np.log(x[0])) if x[0] > 0 else math.inf

    barrier = Function(value, lambda x: 1 - 1 / x)
    solution = th.minimise(barrier, opt.LBFGS(), np.array([3.0]))
    np.testing.assert_allclose(solution.theta, [1.0], atol=1e-6)


def test_a_sketch_that_does_not_help_is_given_up_for_the_pairs():
    """A curvature that is the wrong way round: L-BFGS is better off without it."""

    class Valley:
        n_terms = 1

        def __init__(self):
            self.sketches = 0
            self.scale = np.logspace(0, 3, 40)

        def value_and_gradient(self, x):
            return float(x @ (self.scale * x)) / 2, self.scale * x

        def curvature_sketch(self, x, n_rows):
            self.sketches += 1
            return lambda slope: slope / self.scale[::-1]

    problem = Valley()
    solution = th.minimise(problem, th.optimizers.SketchedNewton(), np.ones(40), tolerance=1e-8)
    assert solution.outcome.success
    assert problem.sketches < 8


def test_lbfgs_evaluates_its_start_once():
    seen = []

    class Bowl:
        def value_and_gradient(self, theta):
            seen.append(theta.tobytes())
            return float(theta @ theta), 2 * theta

    assert th.minimise(Bowl(), th.optimizers.LBFGS(), np.ones(3)).outcome.success
    assert len(seen) == len(set(seen))
