"""Automatic differentiation: worked example, both modes, nesting, layers, and what is refused."""

from typing import NamedTuple

import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.errors import CapabilityError, MemoryBudgetError, ParameterError
from thetahat.mathematics.autodiff import (
    gradient,
    hessian,
    hessian_product,
    jacobian,
    jvp,
    layer_gradients,
    value_and_gradient,
    vjp,
)
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_jacobian


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# The worked example.


def lecture(x):
    return np.stack([x[0] ** 2 + x[1] + x[2], x[0] - x[1] + x[2]])


def test_worked_jacobian():
    x = np.array([2.0, 3.0, 7.0])
    expected = [[4, 1, 1], [1, -1, 1]]
    value, pullback = vjp(lecture, x)
    np.testing.assert_array_equal(value, [14, 6])
    np.testing.assert_array_equal(pullback(np.array([1.0, 0.0])), [4, 1, 1])
    np.testing.assert_array_equal(pullback(np.array([0.0, 1.0])), [1, -1, 1])
    for j, direction in enumerate(np.eye(3)):
        value, column = jvp(lecture, x, direction)
        np.testing.assert_array_equal(value, [14, 6])
        np.testing.assert_array_equal(column, np.array(expected)[:, j])
    for mode in ("auto", "forward", "reverse"):
        np.testing.assert_array_equal(jacobian(lecture, x, mode), expected)


def test_mode_auto_takes_the_fewer_passes():
    evaluations = []

    def counted(x, n_outputs):
        evaluations.append(1)
        return x[0] * np.ones(n_outputs) + x.sum()

    jacobian(lambda x: counted(x, 2), np.ones(50))
    assert len(evaluations) == 1
    evaluations.clear()
    jacobian(lambda x: counted(x, 50), np.ones(2))
    assert len(evaluations) == 1 + 2


# Nesting.


def test_perturbations_are_not_confused():
    """d/dx [x · d/dy (x + y)] = 1, though both derivatives are taken at the same number."""
    _, slope = jvp(lambda x: x * jvp(lambda y: x + y, 1.0, 1.0)[1], 1.0, 1.0)
    assert slope == 1
    assert gradient(lambda x: x * gradient(lambda y: x + y)(1.0))(1.0) == 1
    assert gradient(lambda x: x * jvp(lambda y: x * y, 3.0, 1.0)[1])(5.0) == 10
    _, slope = jvp(lambda x: x * gradient(lambda y: x * y * y)(x), 2.0, 1.0)
    assert slope == 24


def test_a_pullback_outlives_its_trace():
    _, pullback = vjp(lambda x: x**3, np.float64(2.0))
    assert gradient(lambda u: pullback(u) ** 2)(1.0) == 2 * 12 * 12


def test_third_derivative():
    d = gradient(gradient(gradient(np.sin)))
    assert d(0.3) == pytest.approx(-np.cos(0.3), rel=1e-14)


def test_hessian_product_is_the_symmetric_hessian_times_v():
    W = random(0, 4, 4)

    def f(x):
        return np.sum(np.tanh(W @ x) ** 2) + np.prod(x)

    x, u, v = random(1, 4), random(2, 4), random(3, 4)
    H = hessian(f, x)
    np.testing.assert_allclose(H, H.T, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(hessian_product(f, x, v), H @ v, rtol=1e-12)
    assert u @ hessian_product(f, x, v) == pytest.approx(v @ hessian_product(f, x, u), rel=1e-12)
    np.testing.assert_allclose(H, numeric_jacobian(gradient(f), x).value, rtol=1e-7)


# Parameters per layer.


def test_two_layers_by_hand_and_by_finite_differences():
    """L = ½‖y − W₂φ(W₁x)‖²: the loss, its gradient in x, and one gradient per layer."""
    W1, W2, x, y = random(0, 4, 3), random(1, 2, 4), random(2, 3), random(3, 2)
    layers = [
        lambda x, W: np.tanh(W @ x),
        lambda x, W: W @ x,
        lambda x, y: 0.5 * np.sum((y - x) ** 2),
    ]
    loss, dx, (dW1, dW2, dy) = layer_gradients(layers, [W1, W2, y], x)
    hidden = np.tanh(W1 @ x)
    error = W2 @ hidden - y
    back = (W2.T @ error) * (1 - hidden**2)
    assert loss == pytest.approx(0.5 * error @ error, rel=1e-14)
    np.testing.assert_allclose(dW2, np.outer(error, hidden), rtol=1e-12)
    np.testing.assert_allclose(dW1, np.outer(back, x), rtol=1e-12)
    np.testing.assert_allclose(dx, W1.T @ back, rtol=1e-12)
    np.testing.assert_allclose(dy, -error, rtol=1e-12)
    numeric = numeric_jacobian(lambda W: 0.5 * np.sum((y - W2 @ np.tanh(W @ x)) ** 2), W1)
    np.testing.assert_allclose(dW1, numeric.value, rtol=1e-8)


class Layer(NamedTuple):
    W: np.ndarray
    b: np.ndarray


def test_nested_parameters_keep_their_form():
    parameters = [
        Layer(random(0, 3, 4), random(1, 4)),
        {"W": random(2, 4, 1), "b": None},
        (2.0, []),
    ]
    X, y = random(3, 20, 3), random(4, 20)

    def loss(parameters, X, *, y):
        first, last, (scale, _) = parameters
        z = (np.maximum(X @ first.W + first.b, 0) @ last["W"])[:, 0]
        return np.mean((y - scale * z) ** 2)

    value, found = value_and_gradient(loss)(parameters, X, y=y)
    assert value == pytest.approx(loss(parameters, X, y=y), rel=1e-14)
    assert isinstance(found[0], Layer)
    assert found[1]["b"] is None
    assert found[2][1] == []

    def of_last(W):
        return loss([parameters[0], {"W": W, "b": None}, parameters[2]], X, y=y)

    numeric = numeric_jacobian(of_last, parameters[1]["W"])
    np.testing.assert_allclose(found[1]["W"], numeric.value, rtol=1e-7)
    _, slope = jvp(lambda p: loss(p, X, y=y), parameters, found)
    squares = [np.sum(g**2) for g in (*found[0], found[1]["W"], found[2][0])]
    assert slope == pytest.approx(sum(squares), rel=1e-12)


def test_nested_jacobian_has_a_block_per_array():
    x = {"a": np.array([1.0, 2.0]), "b": np.float64(3.0)}
    for mode in ("forward", "reverse"):
        J = jacobian(lambda p: p["a"] * p["b"], x, mode)
        np.testing.assert_array_equal(J["a"], 3 * np.eye(2))
        np.testing.assert_array_equal(J["b"], [1, 2])


def test_directions_are_matched_by_name_not_by_order():
    x = {"a": np.float64(1.0), "b": np.float64(10.0)}
    _, slope = jvp(lambda p: p["a"] + 2 * p["b"], x, {"b": 1.0, "a": 0.0})
    assert slope == 2
    for v, message in [({"a": 1.0}, r"dictionary of \['a', 'b'\]"), ([1.0, 2.0], "got list")]:
        with pytest.raises(ParameterError, match=message):
            jvp(lambda p: p["a"] + p["b"], x, v)
    with pytest.raises(ParameterError, match="list of 2; got list"):
        vjp(lambda x: [x, x], 1.0)[1]([1.0])


def test_row_vectors_may_be_plain_lists():
    np.testing.assert_array_equal(vjp(lecture, [2.0, 3.0, 7.0])[1]([1, 0]), [4, 1, 1])


def test_outputs_may_be_nested_too():
    def f(x):
        return {"sum": x.sum(), "parts": [x, 2.0]}

    x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    value, tangent = jvp(f, x, v)
    assert value["sum"] == 3
    np.testing.assert_array_equal(tangent["parts"][0], v)
    assert tangent["parts"][1] == 0
    _, pullback = vjp(f, x)
    pulled = pullback({"sum": 1.0, "parts": [np.array([0.0, 5.0]), 1.0]})
    np.testing.assert_array_equal(pulled, [1, 6])


# Long computations, empty ones, results that are the caller's own.


def test_fifty_thousand_operations():
    def f(x):
        for _ in range(25_000):
            x = x * 1.00001 + 0.0
        return x

    assert gradient(f)(1.0) == pytest.approx(1.00001**25_000, rel=1e-9)


def test_empty_arrays():
    empty = np.zeros(0)
    assert gradient(np.sum)(empty).shape == (0,)
    for mode in ("forward", "reverse"):
        assert jacobian(lambda x: np.concatenate([x, np.ones(2)]), empty, mode).shape == (2, 0)
    assert gradient(lambda x: np.prod(x) + 0 * x.sum())(empty).shape == (0,)


def test_results_are_writable_and_separate():
    a, b = gradient(lambda pair: np.sum(pair[0] + pair[1]))((np.ones(3), np.ones(3)))
    a += 1
    np.testing.assert_array_equal(b, 1)
    _, tangent = jvp(lambda x: np.broadcast_to(x[0], (3,)), np.ones(2), np.ones(2))
    tangent += 1


def test_gradients_have_the_precision_of_x_in_mixed_computations():
    x, W = np.ones(3, dtype=np.float32), random(0, 3)
    assert (W * x).dtype == np.float64
    assert gradient(lambda x: np.sum(W * x))(x).dtype == np.float32
    assert jvp(lambda x: W * x, x, x)[1].dtype == np.float64


def test_functions_that_ignore_x_have_derivative_zero():
    x = np.ones(2)
    np.testing.assert_array_equal(gradient(lambda x: 3.0)(x), 0)
    np.testing.assert_array_equal(jacobian(lambda x: np.ones(3), x), np.zeros((3, 2)))
    np.testing.assert_array_equal(jvp(np.sign, x, x)[1], 0)


def test_control_flow_on_values():
    def f(x):
        return x * x if x > 1 else -x

    assert gradient(f)(3.0) == 6
    assert gradient(f)(0.0) == -1


def test_integers_are_differentiated_as_real_numbers():
    np.testing.assert_array_equal(gradient(lambda x: np.sum(x**2))(np.array([1, 2])), [2.0, 4.0])


# What is refused.


def in_place_entry(x):
    x[0] = 1.0
    return x.sum()


def in_place_sum(x):
    total = np.zeros(3)
    total += x
    return total.sum()


def filled_array(x):
    out = np.zeros(3)
    out[:] = x
    return out.sum()


REFUSALS = [
    (in_place_entry, r"x\[\.\.\.\] = value writes in place.*np\.where"),
    (in_place_sum, r"np\.add.*\+=.*writes in place"),
    (filled_array, r"a\[\.\.\.\] = x converts a traced array to a plain number"),
    (lambda x: np.exp(x, out=np.zeros(3)).sum(), r"np\.exp\(\.\.\., out=\.\.\.\)"),
    (lambda x: np.clip(x, 0, 1, out=np.zeros(3)).sum(), r"np\.clip\(\.\.\., out=\.\.\.\)"),
    (lambda x: float(x[0]), r"float\(x\) converts a traced array"),
    (lambda x: x[0].item(), r"x\.item\(\) converts a traced array"),
    (lambda x: np.array([x[0], x[1]]).sum(), r"np\.array\(x\).*np\.stack"),
    (lambda x: np.zeros(3)[x[0]], r"index|np\.array\(x\)"),
    (lambda x: np.median(x), r"no derivative for median\(\).*operations\(\)"),
    (lambda x: np.linalg.svd(np.diag(x))[1].sum(), r"no derivative for svd\(\)"),
    (lambda x: np.add.accumulate(x).sum(), r"no derivative for np\.add\.accumulate"),
    (lambda x: np.add(x, 1, where=x > 0).sum(), r"np\.add with where="),
    (lambda x: np.reshape(x, (3, 1), order="F").sum(), r"order='F'"),
    (lambda x: np.ravel(x, order="F").sum(), r"order='F'"),
    (lambda x: np.linalg.norm(np.outer(x, x), "nuc"), r"ord='nuc'"),
    (lambda x: np.linalg.norm(np.outer(x, x), 2, axis=(0, 1)), r"matrices with ord=2"),
    (lambda x: np.linalg.norm(x, 0), r"vectors with ord=0\. Use"),
    (lambda x: np.sum(x, where=x > 0), r"sum\(\) with where="),
    (lambda x: np.diag(x, 1).sum(), r"diag\(\) with 2 arguments"),
    (lambda x: np.outer(x, x).trace(offset=1), r"trace\(\) with offset="),
]


@pytest.mark.parametrize(("f", "message"), REFUSALS)
def test_refusal_names_the_function_and_a_remedy(f, message):
    with pytest.raises(CapabilityError, match=message):
        gradient(f)(np.ones(3))


def test_assigning_an_entry_is_refused():
    def f(x):
        out = np.zeros(3)
        out[0] = x[0]
        return out.sum()

    with pytest.raises(ValueError, match="sequence") as refusal:
        gradient(f)(np.ones(3))
    assert isinstance(refusal.value.__cause__, CapabilityError)


def test_unknown_method_is_refused():
    with pytest.raises(AttributeError, match=r"x\.argpartition cannot be differentiated"):
        gradient(lambda x: x.argpartition(1))(np.ones(3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient(lambda x: x)(np.ones(2)), r"shape \(2,\).*jacobian"),
        (lambda: gradient(lambda x: [x])(1.0), "returned list"),
        (lambda: gradient(np.sum)(np.array([1j])), "complex128"),
        (lambda: gradient(np.sum)(np.array(["a"])), "dtype <U1"),
        (lambda: gradient(np.sum)("abc"), "got str"),
        (lambda: jvp(np.sum, np.ones(2), np.ones(3)), r"v .* shape \(2,\); got shape \(3,\)"),
        (lambda: vjp(np.sum, np.ones(2))[1](np.ones(3)), r"u .* shape \(\); got shape \(3,\)"),
        (lambda: jacobian(np.sin, np.ones(2), mode="sideways"), "sideways"),
        (lambda: jacobian(lambda x: [x, x], np.ones(2)), r"returned list.*np\.stack"),
        (lambda: hessian(lambda x: x[0], [1.0]), "hessian_product"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_a_jacobian_too_large_is_refused_before_it_is_made():
    with th.config(memory=10_000), pytest.raises(MemoryBudgetError, match="hessian_product"):
        jacobian(np.sin, np.ones(100))
