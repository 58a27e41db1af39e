"""A curve of one's own: values and derivatives by the best means."""

import numpy as np
import pytest

import thetahat as th
from thetahat.objective.curves.curve import Curve, linear_function

X = np.linspace(0.1, 2.0, 9)[:, None]
THETA = np.array([2.0, 0.7])


def decay(X, theta):
    return theta[0] * np.exp(-theta[1] * X[:, 0])


def slopes(X, theta):
    power = np.exp(-theta[1] * X[:, 0])
    return np.column_stack([power, -theta[0] * X[:, 0] * power])


def by_loop(X, theta):
    return np.array([float(theta[0]) * np.exp(-float(theta[1]) * x) for x in X[:, 0]])


@pytest.mark.parametrize("model", [decay, by_loop])
@pytest.mark.parametrize(
    "derivative", ["auto", "finite-differences", slopes], ids=["auto", "differences", "own"]
)
def test_the_jacobian_is_that_of_the_formula(model, derivative):
    chosen, found, reason, _ = Curve(model, derivative).settled(X, THETA)
    np.testing.assert_array_equal(found, chosen.jacobian(X, THETA))
    np.testing.assert_allclose(chosen.jacobian(X, THETA), slopes(X, THETA), rtol=1e-7, atol=1e-9)
    assert "Jacobian" in reason


def test_a_wrong_jacobian_is_refused():
    curve = Curve(decay, lambda X, theta: -slopes(X, theta), names=("a", "b"))
    with pytest.raises(th.errors.ParameterError, match=r"derivative by [ab]"):
        curve.settled(X, THETA)


def test_wrong_shapes_and_values_that_are_not_finite_are_refused():
    with pytest.raises(th.errors.ParameterError, match="one number per row"):
        Curve(lambda X, theta: X)(X, THETA)
    with pytest.raises(th.errors.ParameterError, match="at the start"):
        Curve(lambda X, theta: np.log(X[:, 0] - 1) * theta[0]).settled(X, THETA)


def test_the_linear_function():
    np.testing.assert_allclose(linear_function(X, THETA), 2.0 * X[:, 0] + 0.7)


def test_a_formula_of_each_row_is_recorded_and_other_models_are_called():
    settled = Curve(decay).settled(X, THETA)
    np.testing.assert_array_equal(settled.program.values(THETA), decay(X, THETA))
    np.testing.assert_allclose(settled.slopes, slopes(X, THETA), rtol=1e-14)
    assert Curve(by_loop).settled(X, THETA).program is None
    branches = Curve(lambda X, theta: decay(X, theta) if theta[0] > 0 else 0 * X[:, 0])
    assert branches.settled(X, THETA).program is None
    assert Curve(decay, "finite-differences").settled(X, THETA).program is None
