"""Finite differences, derivative checks and convexity checks: right passes, wrong fails."""

import numpy as np
import pytest

from thetahat.foundation.errors import ParameterError, ThetahatError
from thetahat.mathematics.autodiff import gradient, hessian
from thetahat.mathematics.optimizers.checks.convexity import (
    check_convexity,
    check_jensen,
    check_positive_curvature,
    find_minima,
)
from thetahat.mathematics.optimizers.checks.derivatives import (
    check_gradient,
    check_hessian,
    check_jacobian,
    check_taylor,
)
from thetahat.mathematics.optimizers.checks.finite_differences import (
    numeric_gradient,
    numeric_jacobian,
)


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


POINTS = random(0, 60, 3)

CONVEX = {
    "quadratic": lambda x: np.sum(x**2),
    "log sum of exponentials": lambda x: np.logaddexp.reduce(x),
    "norm": lambda x: np.sqrt(1 + np.sum(x**2)),
    "exponential": lambda x: np.sum(np.exp(x)),
}
NOT_CONVEX = {
    "saddle": lambda x: x[0] ** 2 - x[1] ** 2,
    "waves": lambda x: np.sum(np.sin(3 * x)),
    "concave": lambda x: -np.sum(x**2),
    "bounded loss": lambda x: np.sum(x**2 / (1 + x**2)),
}
FUNCTIONS = CONVEX | NOT_CONVEX


# Finite differences.


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_numeric_derivative_is_accurate_and_knows_how_much(scale):
    x = scale * np.array([0.7, -1.3])
    estimate = numeric_jacobian(lambda x: np.stack([np.sin(x / scale), (x / scale) ** 5]), x)
    exact = np.stack([np.diag(np.cos(x / scale)), np.diag(5 * (x / scale) ** 4)]) / scale
    off = abs(estimate.value - exact)
    assert np.all(off <= 2 * estimate.error + 1e-15 / scale)
    assert np.max(off) * scale < 1e-6
    assert estimate.value.shape == (2, 2, 2)


def test_numeric_gradient_of_a_smooth_function_has_eleven_digits():
    x = random(1, 5)
    estimate = numeric_gradient(lambda x: np.sum(np.exp(x) * np.cos(x)), x)
    exact = np.exp(x) * (np.cos(x) - np.sin(x))
    np.testing.assert_allclose(estimate.value, exact, rtol=1e-10, atol=1e-11)


def test_steps_that_leave_the_domain_are_left_out():
    estimate = numeric_gradient(lambda x: np.log(x[0]), np.array([1e-3]))
    assert estimate.value[0] == pytest.approx(1000, rel=1e-6)


def test_a_kink_shows_in_the_error():
    """Central differences settle between the two slopes; the error reaches to both."""
    at_kink = numeric_gradient(abs, np.float64(0.0))
    assert at_kink.value == pytest.approx(0.0, abs=1e-9)
    assert at_kink.error == pytest.approx(1.0, rel=1e-6)
    assert numeric_gradient(abs, np.float64(1e-4)).error < 1e-9
    bend = numeric_gradient(lambda x: np.where(x > 0, x**2, 0.0), np.float64(0.0))
    assert bend.error < 1e-4


# Derivative checks.


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_derivatives_pass_everywhere(name):
    f = FUNCTIONS[name]
    for x in POINTS[:5]:
        assert check_gradient(f, gradient(f), x)
        assert check_hessian(gradient(f), hessian(f, x), x)
        assert check_taylor(f, gradient(f), x)
        assert check_taylor(f, gradient(f), x, lambda x: hessian(f, x))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_derivatives_fail(name):
    f, x = FUNCTIONS[name], POINTS[1]
    right = gradient(f)(x)
    wrong = right + np.array([0, 1e-4, 0]) * np.max(abs(right))
    check = check_gradient(f, wrong, x)
    assert not check
    assert check.where == (1,)
    assert check.found == wrong[1]
    assert check.expected == pytest.approx(right[1], rel=1e-6, abs=1e-9)
    assert not check_taylor(f, 1.01 * right + 0.01, x)
    assert not check_taylor(f, right, x, hessian(f, x) + 0.1 * np.eye(3))
    assert not check_hessian(gradient(f), 1.001 * hessian(f, x), x)


def test_check_of_a_jacobian_names_the_entry():
    def f(x):
        return np.stack([x[0] ** 2 + x[1] + x[2], x[0] - x[1] + x[2]])

    x = np.array([2.0, 3.0, 7.0])
    assert check_jacobian(f, [[4, 1, 1], [1, -1, 1]], x)
    check = check_jacobian(f, [[4, 1, 1], [1, 1, 1]], x)
    assert (check.passed, check.where, check.found) == (False, (1, 1), 1.0)
    assert "Jacobian = finite differences: fails" in str(check)
    with pytest.raises(ThetahatError, match=r"at worst 1 against -1.*at \(1, 1\)"):
        check.require()


def test_a_passed_check_is_returned():
    check = check_gradient(np.sum, np.ones(3), np.zeros(3))
    assert check.require() is check


def test_a_kink_is_not_waved_through():
    """On a kink no slope is right, and none passes; beside it one does."""

    def f(x):
        return np.maximum(x[0], 3 * x[0])

    for slope in (1.0, 2.0, 3.0):
        assert "do not converge" in check_gradient(f, np.array([slope]), np.zeros(1)).rule
        assert not check_gradient(f, np.array([slope]), np.zeros(1))
        assert check_gradient(f, np.array([slope]), np.array([1e-3])).passed == (slope == 3.0)
    step = check_gradient(lambda x: np.where(x[0] >= 0.0, 1.0, 0.0), np.zeros(1), np.zeros(1))
    assert not step


def test_a_field_that_is_no_gradient_fails_the_hessian_check():
    rotation = np.array([[0.0, 1.0], [-1.0, 0.0]])
    check = check_hessian(lambda x: rotation @ x, rotation, np.ones(2))
    assert not check
    assert check.rule == "Hessian = its transpose"


def test_wrong_shapes_are_refused():
    with pytest.raises(ParameterError, match=r"shape \(3,\).*\(2,\)"):
        check_gradient(np.sum, np.ones(3), np.ones(2))
    with pytest.raises(ParameterError, match="at least 2 points"):
        check_convexity(np.exp, [1.0])


def test_linear_functions_have_no_remainder():
    check = check_taylor(lambda x: np.sum(2 * x), 2 * np.ones(3), np.zeros(3))
    assert check
    assert check.found == np.inf


# Convexity.


@pytest.mark.parametrize("name", CONVEX)
def test_convex_functions_pass_every_test(name):
    f = CONVEX[name]
    assert check_convexity(f, POINTS)
    assert check_jensen(f, POINTS)
    assert check_jensen(f, POINTS, weights=np.arange(60.0))
    assert check_positive_curvature(lambda x: hessian(f, x), POINTS[:10])


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_other_functions_fail_with_a_witness(name):
    f = NOT_CONVEX[name]
    check = check_convexity(f, POINTS)
    assert not check
    x1, x2, a = check.where
    assert f(a * x1 + (1 - a) * x2) == check.found > check.expected
    assert check.expected == pytest.approx(a * f(x1) + (1 - a) * f(x2), rel=1e-12)
    curvature = check_positive_curvature(lambda x: hessian(f, x), POINTS)
    assert not curvature
    lowest = np.linalg.eigvalsh(hessian(f, curvature.where))[0]
    assert curvature.found == pytest.approx(lowest, rel=1e-12)


def test_jensen_by_hand():
    """f(x) = x² at 0 and 2: f(E[x]) = 1, E[f(x)] = 2; a concave f turns it round."""
    check = check_jensen(np.square, [0.0, 2.0])
    assert (check.passed, check.found, check.expected) == (True, 1.0, 2.0)
    assert not check_jensen(np.sqrt, [0.0, 2.0])
    assert check_jensen(lambda x: 3 * x + 1, [0.0, 2.0])


def test_linear_functions_are_convex_to_rounding():
    slope = 1e6 * random(1, 3)
    assert check_convexity(lambda x: slope @ x + 1e9, POINTS)
    assert check_convexity(lambda x: -slope @ x, POINTS)


def test_the_sampled_segments_are_reproducible():
    first, second = (check_convexity(np.sin, POINTS[:, 0], random_state=3) for _ in range(2))
    assert first.where == second.where


def test_local_and_global_minimum():
    """x⁴ − 3x² + x has two valleys: the start decides. A convex function has one."""

    def two_valleys(x):
        return x**4 - 3 * x**2 + x

    found = find_minima(two_valleys, [-2.0, -1.0, 1.0, 2.0])
    assert found.reached == [2, 2]
    assert not found.unique
    assert found.values[0] < found.values[1]
    for x in found.points:
        assert 4 * x**3 - 6 * x + 1 == pytest.approx(0, abs=1e-6)
        assert 12 * x**2 - 6 > 0
    grid = np.linspace(-3, 3, 100_001)
    assert found.values[0] <= two_valleys(grid).min() + 1e-12
    assert not check_convexity(two_valleys, np.linspace(-2, 2, 30))
    bowl = find_minima(lambda x: np.sum((x - 1) ** 2) + x[0] * x[1] / 2, random(2, 6, 2))
    assert bowl.unique
    np.testing.assert_allclose(bowl.points[0], [0.8, 0.8], atol=1e-5)
