"""Every activation: derivative against differences, convention at 0, large arguments, dtype."""

import numpy as np
import pytest

import thetahat as th

ACTIVATIONS = [
    th.activations.named(getattr(th.activations, name).name)
    for name in th.activations.__all__
    if isinstance(getattr(th.activations, name), type) and name != "Activation"
] + [th.activations.Step(at_zero=1), th.activations.LeakyReLU(leak=0.3)]

every = pytest.mark.parametrize("activation", ACTIVATIONS, ids=repr)


def test_all_activations_of_the_course_are_there():
    names = {each.name for each in ACTIVATIONS}
    assert names >= {"sigmoid", "tanh", "relu", "step", "identity", "softmax"}


@every
def test_derivatives_are_those_of_differences(activation):
    """`pull` multiplies by the Jacobian, whose diagonal is the derivative."""
    random = np.random.default_rng(0)
    t = random.uniform(-3, 3, (5, 4))
    t[np.abs(t) < 0.1] = 0.5
    slope, h = random.standard_normal(t.shape), 1e-6
    expected, diagonal = np.empty_like(t), np.empty_like(t)
    for place in np.ndindex(*t.shape):
        move = np.zeros_like(t)
        move[place] = h
        change = (activation.value(t + move) - activation.value(t - move)) / (2 * h)
        expected[place], diagonal[place] = (slope * change).sum(), change[place]
    pulled = activation.pull(activation.value(t), slope.copy())
    np.testing.assert_allclose(pulled, expected, atol=1e-8)
    np.testing.assert_allclose(activation.derivative(t), diagonal, atol=1e-8)


def test_worked_values_and_the_convention_at_zero():
    t = np.array([-1.0, 0.0, 2.0])
    act = th.activations
    np.testing.assert_array_equal(act.ReLU().value(t), [0, 0, 2])
    np.testing.assert_array_equal(act.ReLU().derivative(t), [0, 0, 1])
    np.testing.assert_allclose(act.Sigmoid().value(t), np.exp(t) / (1 + np.exp(t)))
    np.testing.assert_array_equal(act.Step().value(t), [0, 0, 1])
    np.testing.assert_array_equal(act.Step(at_zero=1).value(t), [0, 1, 1])
    np.testing.assert_array_equal(act.Step().derivative(t), 0)
    np.testing.assert_array_equal(act.Identity().value(t), t)
    np.testing.assert_allclose(act.Softmax().value(t), np.exp(t) / np.exp(t).sum())
    np.testing.assert_allclose(act.Softmax().derivative(t), np.diag(_softmax_jacobian(t)))


def _softmax_jacobian(t):
    p = np.exp(t) / np.exp(t).sum()
    return np.diag(p) - np.outer(p, p)


@every
def test_values_keep_the_argument_and_its_precision(activation):
    t = np.array([[-1e4, 0.0, 1e4]], dtype=np.float32)
    before = t.copy()
    found = activation.value(t)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(t, before)
    assert activation.value(np.array([[1, 2]])).dtype == np.float64


def test_names_and_refusals():
    assert th.activations.named("logistic") == th.activations.Sigmoid()
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'relu'"):
        th.activations.named("rel")
    with pytest.raises(th.errors.ParameterError, match="at_zero, the value at t = 0, must be 0 or"):
        th.activations.Step(at_zero=0.5)
