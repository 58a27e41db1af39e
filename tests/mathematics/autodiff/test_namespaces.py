"""Code written against the array API is traced, too: every loss, and libraries beside NumPy."""

import array_api_compat
import numpy as np
import pytest

from tests.mathematics.autodiff.foreign_array import Foreign, foreign
from tests.mathematics.autodiff.primitive_arguments import arguments, random
from thetahat.mathematics import losses
from thetahat.mathematics.autodiff import gradient, hessian_product, jacobian, jvp
from thetahat.mathematics.autodiff.primitives import PRIMITIVES
from thetahat.mathematics.autodiff.trace import constant
from thetahat.mathematics.losses import custom
from thetahat.mathematics.losses.base import Curved, Subdifferentiable, Targets

# Losses.


def sample(loss):
    draw = np.random.default_rng(0)
    y = {
        Targets.REAL: draw.normal(size=30),
        Targets.NONNEGATIVE: draw.poisson(2.0, size=30),
        Targets.POSITIVE: np.random.default_rng(1).gamma(2.0, size=30),
        Targets.BINARY: draw.integers(0, 2, size=30),
        Targets.SIGNS: draw.choice([-1.0, 1.0], size=30),
        Targets.CLASSES: draw.integers(0, 3, size=30),
    }[loss.targets]
    return np.asarray(y, dtype=float), draw.normal(size=30 if loss.columns == "one" else (30, 3))


def built_in_losses():
    for name in losses.__all__:
        part = getattr(losses, name)
        if isinstance(part, type) and issubclass(part, Subdifferentiable):
            try:
                yield pytest.param(part(), id=name)
            except TypeError:
                continue


@pytest.mark.parametrize("loss", list(built_in_losses()))
def test_built_in_losses_can_be_traced(loss):
    """The closed forms of every loss are what autodiff finds in its value."""
    y, z = sample(loss)

    def total(z):
        return np.sum(loss.value(constant(y), z))

    np.testing.assert_allclose(gradient(total)(z), loss.gradient(y, z), rtol=1e-12, atol=1e-14)
    if isinstance(loss, Curved):
        v = random(5, *z.shape)
        np.testing.assert_allclose(
            hessian_product(total, z, v), loss.curvature_product(y, z, v), rtol=1e-11, atol=1e-13
        )


# Other array libraries.

FROM_SCIPY = {"expit", "log_expit", "xlogy", "erf"}
"""Primitives that exist for NumPy arrays only."""


@pytest.mark.parametrize("name", sorted(PRIMITIVES.keys() - FROM_SCIPY))
def test_every_primitive_in_another_library(name):
    """Both modes, and one over the other, give what they give in NumPy, in the library's arrays."""
    args, options = arguments(name)
    moving = next(k for k, arg in enumerate(args) if arg.dtype.kind == "f")

    def of_moving(args, options):
        def f(x):
            out = PRIMITIVES[name](*args[:moving], x, *args[moving + 1 :], **options)
            return array_api_compat.array_namespace(out).sum(out**2)

        return f

    x, v = args[moving], np.cos(args[moving])
    here, there = of_moving(args, options), of_moving(foreign(args), foreign(options))
    for derivative in (lambda f, x, v: jvp(f, x, v)[1], hessian_product):
        found = derivative(there, Foreign(x), Foreign(v))
        assert isinstance(found, Foreign)
        np.testing.assert_allclose(found.array, derivative(here, x, v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", list(built_in_losses()))
def test_custom_losses_in_another_library(loss):
    """A loss made from another's value, differentiated in the library's arrays."""
    y, z = sample(loss)
    made = custom.loss(loss.value, targets=loss.targets)
    found = made.gradient(Foreign(y), Foreign(z))
    np.testing.assert_allclose(found.array, loss.gradient(y, z), rtol=1e-11, atol=1e-13)
    if isinstance(made, Curved):
        found = made.curvature(Foreign(y), Foreign(z))
        np.testing.assert_allclose(found.array, loss.curvature(y, z), rtol=1e-11, atol=1e-13)
    assert isinstance(made.best_constant(Foreign(y)), Foreign)


def test_another_namespace_through_its_functions():
    """The same code on a library that knows nothing of NumPy's protocols gives the same numbers."""

    def f(x):
        xp = array_api_compat.array_namespace(x)
        bent = xp.where(x > 0, xp.log1p(xp.exp(x)), xp.zeros_like(x)) + xp.maximum(x, 0.5)
        picked = xp.sum(xp.take(x, xp.asarray([0, 0, 2]), axis=0) ** 2) + x[1:][0]
        return xp.sum(xp.sign(x) * bent) + picked * xp.max(xp.stack([x, 2 * x])) / xp.mean(x)

    x, v = random(0, 4), random(1, 4)
    pairs = [
        (gradient(f)(Foreign(x)), gradient(f)(x)),
        (hessian_product(f, Foreign(x), Foreign(v)), hessian_product(f, x, v)),
        *zip(jvp(f, Foreign(x), Foreign(v)), jvp(f, x, v), strict=True),
    ]
    for found, expected in pairs:
        assert isinstance(found, Foreign)
        np.testing.assert_allclose(found.array, expected, rtol=1e-13)
    J = jacobian(lambda x: x[1:] * x[:-1], Foreign(x))
    np.testing.assert_allclose(J.array, jacobian(lambda x: x[1:] * x[:-1], x))


def test_a_namespace_of_two_arrays():
    """array_namespace(y, z) with a constant y, as losses are written."""
    y, z = random(0, 5), random(1, 5)

    def f(y, z):
        xp = array_api_compat.array_namespace(y, z)
        return xp.sum(xp.astype(y, z.dtype) * xp.clip(z, 0, None) + xp.abs(z - y) * y)

    expected = gradient(lambda z: f(constant(y), z))(z)
    np.testing.assert_allclose(expected, y * (z > 0) + np.sign(z - y) * y, rtol=1e-14)
    found = gradient(lambda z: f(constant(Foreign(y)), z))(Foreign(z))
    assert isinstance(found, Foreign)
    np.testing.assert_allclose(found.array, expected, rtol=1e-14)


def test_array_api_strict():
    strict = pytest.importorskip("array_api_strict")
    x = np.array([0.3, -1.2, 2.0])
    for loss in (losses.Huber(), losses.Squared(), losses.Cauchy()):
        y = np.zeros(3)
        total = gradient(lambda z, y, loss=loss: z.__array_namespace__().sum(loss.value(y, z)))
        found = total(strict.asarray(x), constant(strict.asarray(y)))
        np.testing.assert_allclose(np.asarray(found), loss.gradient(y, x), rtol=1e-13)
    picked = gradient(lambda x: x.__array_namespace__().sum(x[strict.asarray([0, 0, 2])] ** 2))
    np.testing.assert_allclose(np.asarray(picked(strict.asarray(x))), [1.2, 0, 4.0])


def test_torch():
    torch = pytest.importorskip("torch")
    W = torch.tensor(random(0, 4, 3), dtype=torch.float32)
    y = torch.tensor([0, 2, 2, 1])

    def f(W, y):
        xp = array_api_compat.array_namespace(W)
        scores = xp.exp(W) / xp.sum(xp.exp(W), axis=1, keepdims=True)
        right = scores[xp.arange(4), y] + xp.maximum(W[:, 0], 0.0)
        return -xp.sum(xp.log(right)) + xp.linalg.vector_norm(W)

    found = gradient(f)(W, y)
    again = W.clone().requires_grad_(True)
    f(again, y).backward()
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, again.grad)
