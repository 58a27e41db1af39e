"""Steepest descent and momentum: the steps by hand, and where they lead."""

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import Function, LeastSquares

opt = th.optimizers


def test_gradient_descent_on_an_asymmetric_quadratic():
    """∇(xᵀAx − bᵀx) = (A + Aᵀ)x − b, so the minimum solves (A + Aᵀ)x = b."""
    A, b = np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([1.0, -2.0])
    problem = Function(lambda x: x @ A @ x - b @ x, lambda x: (A + A.T) @ x - b)
    expected = np.linalg.solve(A + A.T, b)
    for step in ("backtracking", 0.1, opt.Constant(0.1)):
        solution = th.minimise(problem, opt.GradientDescent(step=step), np.zeros(2))
        np.testing.assert_allclose(solution.theta, expected, atol=1e-8)


def test_constant_step_is_w_minus_eta_gradient():
    problem, w = LeastSquares.random(), np.arange(4.0)
    solution = th.minimise(problem, opt.GradientDescent(step=0.01), w, max_steps=1)
    expected = w - 0.01 * problem.value_and_gradient(w)[1]
    np.testing.assert_array_equal(solution.theta, expected)


def test_one_dimension_follows_the_sign():
    """On a line the step goes against the sign of the derivative."""
    problem = Function(lambda x: (x - 2.0) ** 4, lambda x: 4 * (x - 2.0) ** 3)
    for start in (-1.0, 5.0):
        method = opt.GradientDescent(step=0.5, normalised=True)
        one = th.minimise(problem, method, start, max_steps=1)
        assert float(one.theta) == start - 0.5 * np.sign(start - 2.0)
        whole = th.minimise(problem, opt.GradientDescent(), start, tolerance=1e-9)
        assert float(whole.theta) == pytest.approx(2.0, abs=1e-2)


def test_the_steepest_unit_step_lowers_a_linear_function_by_its_norm():
    w = np.array([3.0, -4.0])
    problem = Function(lambda x: w @ x, lambda x: w)
    method = opt.GradientDescent(step=1.0, normalised=True)
    solution = th.minimise(problem, method, np.zeros(2), max_steps=1)
    np.testing.assert_allclose(solution.theta, -w / 5)
    assert solution.value == pytest.approx(-5.0)
    around = np.linspace(0, 2 * np.pi, 100)
    assert all(w @ [np.cos(a), np.sin(a)] >= solution.value - 1e-12 for a in around)


@pytest.mark.parametrize(
    "method",
    [opt.GradientDescent, opt.Momentum, opt.Nesterov],
    ids=lambda kind: kind.__name__,
)
def test_stopping_by_the_length_of_the_gradient(method):
    """With many parameters the largest entry is within ε long before ‖∇F‖₂ is."""
    scale = np.linspace(0.5, 1.0, 10_000)
    problem = Function(lambda x: x @ (scale * x) / 2, lambda x: scale * x)
    start, epsilon = np.ones(10_000), 1e-3
    lengths = {}
    for norm in ("max", "l2"):
        found = th.minimise(problem, method(norm=norm), start, tolerance=epsilon)
        assert found.outcome is th.results.Outcome.CONVERGED
        gradient = scale * found.theta
        assert found.gap == pytest.approx(
            np.abs(gradient).max() if norm == "max" else np.linalg.norm(gradient)
        )
        lengths[norm] = np.linalg.norm(gradient)
        assert ("Euclidean" in found.gap_kind) is (norm == "l2")
    assert lengths["l2"] <= epsilon < lengths["max"]
    with pytest.raises(th.errors.ParameterError, match="norm must be 'max' or 'l2'"):
        method(norm="l1")


def test_the_length_of_huge_gradients_is_finite():
    problem = Function(lambda x: float(np.abs(x).sum()), lambda x: np.full(4, 1e200))
    found = th.minimise(problem, opt.GradientDescent(norm="l2"), np.ones(4), max_steps=0)
    assert found.gap == pytest.approx(2e200)


def test_random_starts_reach_the_same_optimum():
    problem, rng = LeastSquares.random(), np.random.default_rng(5)
    for _ in range(3):
        solution = th.minimise(problem, opt.GradientDescent(), rng.normal(size=4))
        np.testing.assert_allclose(solution.theta, problem.optimum, atol=1e-7)


def test_backtracking_forgets_the_units_of_f():
    small, large = LeastSquares.random(), LeastSquares.random()
    for factor in (1e-6, 1e6):
        scaled = Function(
            lambda x, factor=factor: factor * small.value(x),
            lambda x, factor=factor: factor * small.value_and_gradient(x)[1],
        )
        solution = th.minimise(scaled, opt.GradientDescent(), np.zeros(4), tolerance=1e-7 * factor)
        np.testing.assert_allclose(solution.theta, large.optimum, atol=1e-5)


SLOPE = Function(lambda x: x.sum(), lambda x: np.ones_like(x))


@pytest.mark.parametrize(("alpha", "eta"), [(0.9, 0.1), (0.5, 1.0), (0.0, 0.3)])
def test_momentum_under_a_constant_gradient(alpha, eta):
    """V_i = −ηg(1 − αⁱ)/(1 − α)."""
    method = opt.Momentum(alpha, eta)
    state = method.start(SLOPE, np.zeros(1))
    for i in range(1, 8):
        before, state = state, method.advance(SLOPE, state)
        velocity = state.theta - before.theta
        np.testing.assert_allclose(velocity, -eta * (1 - alpha**i) / (1 - alpha))


def test_momentum_worked_number():
    rule, velocity = opt.HeavyBall(alpha=0.9, eta=0.1), np.zeros(1)
    for i in range(1, 6):
        _, velocity = rule.move(i, np.ones(1), velocity)
    np.testing.assert_allclose(velocity, -0.40951)


def test_the_first_momentum_step_is_gradient_descent():
    problem = LeastSquares.random()
    first = th.minimise(problem, opt.Momentum(0.9, 0.05), max_steps=1).theta
    np.testing.assert_array_equal(
        first, th.minimise(problem, opt.GradientDescent(step=0.05), max_steps=1).theta
    )


def test_nesterov_looks_ahead():
    """The rule in θ = w + αV is the textbook's recursion in w."""
    problem, alpha, eta = LeastSquares.random(), 0.8, 0.1
    w, velocity = np.ones(4), np.zeros(4)
    for _ in range(6):
        ahead = problem.value_and_gradient(w + alpha * velocity)[1]
        velocity = alpha * velocity - eta * ahead
        w = w + velocity
    method = opt.Nesterov(alpha, eta)
    state = method.start(problem, np.ones(4))
    for _ in range(6):
        state = method.advance(problem, state)
    np.testing.assert_allclose(state.theta, w + alpha * velocity)


@pytest.mark.parametrize("kind", [opt.Momentum, opt.Nesterov])
def test_momentum_is_faster_than_descent_in_a_valley(kind):
    scale = np.array([1.0, 100.0])
    valley = Function(lambda x: x @ (scale * x) / 2, lambda x: scale * x)
    plain = th.minimise(valley, opt.GradientDescent(step=0.01), np.ones(2))
    rolling = th.minimise(valley, kind(0.8, 0.01), np.ones(2))
    assert rolling.outcome.success
    assert rolling.steps < plain.steps / 3
