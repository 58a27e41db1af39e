"""One coordinate or block at a time."""

import itertools

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import LeastSquares, Rosenbrock

opt = th.optimizers


def separable_problems():
    base = LeastSquares.random(seed=4)
    base.y *= 3
    gram, linear = base.gram, base.A.T @ base.y / 40
    some = np.array([0.1, 0.0, 2.0, 0.3])
    return {
        "lasso": opt.SeparableQuadratic(gram, linear, l1=0.3),
        "weighted": opt.SeparableQuadratic(gram, linear, 1.0, l1=some, l2=0.5),
        "nonnegative": opt.SeparableQuadratic(gram, linear, lower=0.0),
        "box": opt.SeparableQuadratic(gram, linear, l1=0.05, lower=-some / 2, upper=some),
    }


@pytest.mark.parametrize("name", separable_problems())
def test_coordinate_descent_meets_the_optimality_conditions(name):
    """The optimum is a fixed point of the proximal gradient map, whatever the step."""
    problem = separable_problems()[name]
    solution = th.minimise(problem, opt.CoordinateDescent(), tolerance=1e-12, keep_trace=True)
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert all(b <= a + 1e-15 for a, b in itertools.pairwise(solution.trace))
    theta, (l1, l2, lower, upper) = solution.theta, problem.terms()
    slope = problem.gram @ theta - problem.linear
    for step in (0.01, 1.0):
        forward = theta - step * slope
        shrunk = np.sign(forward) * np.maximum(np.abs(forward) - step * l1, 0) / (1 + step * l2)
        np.testing.assert_allclose(np.clip(shrunk, lower, upper), theta, atol=1e-11)
    value = theta @ problem.gram @ theta / 2 - problem.linear @ theta + problem.constant
    value += np.sum(l1 * np.abs(theta) + l2 * theta**2 / 2)
    assert solution.value == pytest.approx(value)


@pytest.mark.parametrize("name", separable_problems())
def test_the_gap_is_zero_only_at_the_optimum(name):
    problem = separable_problems()[name]
    optimum = th.minimise(problem, opt.CoordinateDescent(), tolerance=1e-13).theta
    _, _, lower, upper = problem.terms()
    rng = np.random.default_rng(0)
    for _ in range(20):
        nearby = np.clip(optimum + 0.1 * rng.normal(size=4), lower, upper)
        assert opt.CoordinateDescent().start(problem, nearby).gap > 1e-4


def test_sweeps_per_step_do_not_change_the_path():
    problem = separable_problems()["lasso"]
    one = th.minimise(problem, opt.CoordinateDescent(), max_steps=4, tolerance=-1.0)
    four = th.minimise(problem, opt.CoordinateDescent(sweeps=4), max_steps=1, tolerance=-1.0)
    np.testing.assert_array_equal(one.theta, four.theta)


def test_a_start_outside_the_bounds_is_brought_inside():
    problem = separable_problems()["nonnegative"]
    solution = th.minimise(problem, opt.CoordinateDescent(), np.full(4, -3.0))
    assert (solution.theta >= 0).all()


def test_alternating_minimisation_over_blocks_is_monotone():
    """‖Y − uvᵀ‖²: least squares in u for fixed v, and in v for fixed u; the limit is the best
    rank-one approximation."""
    Y = np.random.default_rng(0).normal(size=(6, 4))

    class RankOne:
        def value(self, theta):
            return float(np.sum((Y - np.outer(theta[:6], theta[6:])) ** 2))

        @property
        def partial_minimisers(self):
            def left(theta):
                v = theta[6:]
                return np.concatenate([Y @ v / (v @ v), v])

            def right(theta):
                u = theta[:6]
                return np.concatenate([u, Y.T @ u / (u @ u)])

            return left, right

    solution = th.minimise(
        RankOne(),
        opt.AlternatingMinimisation(),
        np.ones(10),
        tolerance=1e-13,
        keep_trace=True,
    )
    assert all(b <= a for a, b in itertools.pairwise(solution.trace))
    singular = np.linalg.svd(Y, compute_uv=False)
    assert solution.value == pytest.approx(np.sum(singular[1:] ** 2), abs=1e-8)


def test_a_partial_minimiser_that_raises_the_objective_is_not_followed():
    class Faulty:
        def value(self, theta):
            return float(theta @ theta)

        partial_minimisers = (lambda theta: theta / 2, lambda theta: theta + 10)

    trace = th.minimise(
        Faulty(), opt.AlternatingMinimisation(), np.ones(2), max_steps=5, keep_trace=True
    ).trace
    np.testing.assert_allclose(trace, 2 * 4.0 ** -np.arange(6))


def test_coordinates_minimise_any_objective_one_axis_at_a_time():
    start = np.array([0.5, 0.8])
    solution = th.minimise(
        opt.Coordinates(Rosenbrock(), 2),
        opt.AlternatingMinimisation(),
        start,
        max_steps=50,
        keep_trace=True,
    )
    assert all(b <= a for a, b in itertools.pairwise(solution.trace))
    assert solution.value < Rosenbrock().value(start) / 2
    base = LeastSquares.random()
    solution = th.minimise(
        opt.Coordinates(base, 4), opt.AlternatingMinimisation(), np.zeros(4), tolerance=1e-14
    )
    np.testing.assert_allclose(solution.theta, base.optimum, atol=1e-5)
