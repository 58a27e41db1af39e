"""Every primitive against finite differences, in both modes; NumPy's own spelling of them."""

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.autodiff.primitive_arguments import arguments, random
from thetahat.mathematics.autodiff import gradient, hessian, hessian_product, jacobian, jvp, vjp
from thetahat.mathematics.autodiff.primitives import PRIMITIVES
from thetahat.mathematics.autodiff.trace import FUNCTIONS
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_jacobian


def assert_both_modes(f, x, rtol=1e-7):
    """Forward and reverse Jacobians agree with each other and with finite differences."""
    forward, reverse = jacobian(f, x, "forward"), jacobian(f, x, "reverse")
    np.testing.assert_allclose(forward, reverse, rtol=1e-11, atol=1e-11)
    numeric = numeric_jacobian(f, x)
    np.testing.assert_allclose(forward, numeric.value, rtol=rtol, atol=1e-7)


# Every primitive of the table.


def one_argument_at_a_time(name):
    args, options = arguments(name)
    for k in range(len(args)):
        if args[k].dtype.kind == "f":
            yield lambda x, k=k: PRIMITIVES[name](*args[:k], x, *args[k + 1 :], **options), args[k]


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_primitive_against_finite_differences(name):
    for f, x in one_argument_at_a_time(name):
        assert_both_modes(f, x)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_second_derivatives_of_primitive(name):
    """Rules are made of traced operations, so they differentiate again, in either order."""
    for f, x in one_argument_at_a_time(name):
        assert_second_derivatives(f, x)


def assert_second_derivatives(f, x):
    u, v = random(5, *np.shape(f(x))), random(6, *x.shape)

    def scalar(x):
        return np.sum(u * f(x) ** 2)

    product = hessian_product(scalar, x, v)
    again = gradient(lambda x: np.sum(gradient(scalar)(x) * v))(x)
    np.testing.assert_allclose(product, again, rtol=1e-9, atol=1e-9)
    numeric = numeric_jacobian(lambda t: gradient(scalar)(x + t * v), 0.0)
    np.testing.assert_allclose(product, numeric.value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_forward_and_reverse_are_transposes(name):
    """⟨u, J·v⟩ = ⟨Jᵀu, v⟩ with all arguments moving at once."""
    args, options = arguments(name)
    fixed = [arg if arg.dtype.kind != "f" else None for arg in args]

    def f(moving):
        waiting = iter(moving)
        return PRIMITIVES[name](
            *(next(waiting) if arg is None else arg for arg in fixed), **options
        )

    x = [arg for arg in args if arg.dtype.kind == "f"]
    v = [random(7 + k, *part.shape) for k, part in enumerate(x)]
    value, tangent = jvp(f, x, v)
    u = random(9, *value.shape)
    pulled = vjp(f, x)[1](u)
    left = np.sum(u * tangent)
    right = sum(np.sum(a * b) for a, b in zip(pulled, v, strict=True))
    assert left == pytest.approx(right, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_single_precision_stays_single(name):
    args, options = arguments(name)
    args = [arg.astype(np.float32) if arg.dtype.kind == "f" else arg for arg in args]
    options = options | ({"dtype": np.float32} if "dtype" in options else {})
    k = next(k for k, arg in enumerate(args) if arg.dtype.kind == "f")

    def f(x):
        return PRIMITIVES[name](*args[:k], x, *args[k + 1 :], **options)

    value, tangent = jvp(f, args[k], np.ones_like(args[k], dtype=np.float64))
    assert value.dtype == tangent.dtype == np.float32
    assert vjp(f, args[k])[1](np.ones(value.shape)).dtype == np.float32


# NumPy's own spelling of the functions.

SQUARE = random(10, 3, 3)

SPELLINGS = {
    "operators": lambda x: 2 ** (1 - (x + 1) * x / (3 + x * x)) - x % 5.0 + (-x) + abs(x) + +x,
    "reflected": lambda x: SQUARE * x - SQUARE @ x + 1 / (4 + x**2) - np.float64(3) * x,
    "matrix @ vector": lambda x: (x @ x[0]) * (x[1] @ x),
    "dot": lambda x: np.dot(x, x[:, 1]) + np.dot(x[0], x[1]) + 2 * np.dot(3.0, x[0]),
    "inner products": lambda x: np.inner(x[0], x[1]) + np.vdot(x[1], x[2]) + np.vecdot(x, SQUARE),
    "inner of matrices": lambda x: (np.inner(x, SQUARE[:2]) ** 2) @ np.inner(x[:2], x[2]),
    "vdot of matrices": lambda x: np.vdot(x, SQUARE) * np.vdot(x, x[::-1]) * x,
    "inner with lists": lambda x: np.inner([1.0, 2.0, 3.0], x) ** 2 + np.inner(x[0], 2.0),
    "vecdot by rows": lambda x: np.vecdot(x, x[0]) ** 2,
    "outer": lambda x: np.outer(x[0], x[:, 1]),
    "transpose": lambda x: x.T @ x + np.transpose(x) + np.swapaxes(x, 0, 1) + np.moveaxis(x, 0, 1),
    "reshape": lambda x: x.reshape(9) + x.reshape((-1,)) + np.ravel(x) + np.reshape(x, (9,)),
    "stacks": lambda x: np.vstack([x, x[0]]) + np.concatenate([x[:1], x]) + np.stack([*x, x[2]]),
    "columns": lambda x: np.hstack([x, x**2]) + np.column_stack([x[0], *x[1:], x.T @ x]),
    "sums": lambda x: np.sum(x**2, axis=0) + x.sum(axis=(0, 1)) + np.add.reduce(x),
    "means": lambda x: np.mean(x**2, axis=0, keepdims=True) + x.mean() + np.var(x, axis=1, ddof=1),
    "std": lambda x: np.std(x, axis=0) + x.std(),
    "products": lambda x: np.prod(x, axis=0) + x.prod() + np.multiply.reduce(x, axis=1),
    "extremes": lambda x: np.max(x, axis=0) + np.amin(x) + x.max(axis=1) + np.maximum.reduce(x),
    "logsumexp": lambda x: np.logaddexp.reduce(x, axis=1) + np.logaddexp(x[0], 0),
    "clip": lambda x: np.clip(x, -0.5, 0.5) + x.clip(0.1) + np.clip(x, None, SQUARE),
    "where": lambda x: np.where(x > 0, x**2, -x) + np.where(x[0] < x[1], x, 0.0),
    "masks": lambda x: x[SQUARE > 0] ** 2 + x[[0, 0, 1]].sum() + x[np.array([1, 1]), [2, 2]].sum(),
    "slices": lambda x: x[::-1, 1:] * x[..., None, 0] + x[-1, :2] + np.flip(x, 1)[:, 1:],
    "running": lambda x: np.cumsum(x, axis=0) + np.cumsum(x)[2] + np.diff(x, axis=0)[0],
    "take": lambda x: np.take(x, [2, 0, 2], axis=1) + x.take([8])[0],
    "diagonals": lambda x: np.diagonal(x) + np.trace(x) * x.trace() + np.diag(np.diag(x**2))[1],
    "linear algebra": lambda x: np.linalg.solve(x + 5 * np.eye(3), x[0]) + np.linalg.inv(x)[0],
    "determinants": lambda x: np.linalg.det(x) + np.linalg.slogdet(x)[1] + np.linalg.norm(x),
    "norms": lambda x: (
        np.linalg.norm(x, axis=1) + np.linalg.norm(x[0], 1) + np.linalg.norm(x[1], 2)
    ),
    "largest norm": lambda x: np.linalg.norm(x[0], np.inf) * np.linalg.norm(x, axis=0),
    "norms of matrices": lambda x: (
        np.linalg.norm(x, 1) * np.linalg.norm(x, np.inf) * np.linalg.norm(x, -1) * x
        + np.linalg.norm(x, "fro", axis=(1, 0), keepdims=True)
        + np.linalg.norm(x[None] * SQUARE[0], -np.inf, axis=(2, 1))
    ),
    "powers in norms": lambda x: np.linalg.norm(x, 3, axis=0) + np.linalg.norm(x[0], -np.inf),
    "norms of the array API": lambda x: (
        np.linalg.vector_norm(x) * np.linalg.vector_norm(x, ord=1, axis=0, keepdims=True)
        + np.linalg.matrix_norm(x, ord=np.inf)
    ),
    "products over axes": lambda x: np.prod(x[None] * SQUARE, axis=(0, 2)),
    "moved axes": lambda x: np.moveaxis(x[None] * SQUARE, (0, 1), (2, 0)) * x[:, :, None],
    "shapes": lambda x: np.squeeze(np.expand_dims(x, 1)) + np.broadcast_to(x[0], (3, 3)),
    "unpacking": lambda x: (lambda a, b, c: a * b - c)(*x) + sum(x) + len(x),
    "full": lambda x: np.full_like(SQUARE, 2.0) * np.full_like(x, x[0, 1]) + np.zeros_like(x),
    "arc": lambda x: np.arctan(x) + np.arcsinh(x) + np.arctan2(x, 1 + x**2) + np.hypot(x, 1.0),
    "powers": lambda x: x**3 + np.power(np.abs(x), 1.5) + np.square(x) + np.abs(x) ** (1 + x**2),
    "copies": lambda x: x.copy() * x.astype(np.float64) + x.flatten()[0],
    "constants": lambda x: np.sign(x) * x + np.floor(x) + np.round(x) + np.argmax(x) + (x // 1),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_numpy_spelling(spelling):
    f, x = SPELLINGS[spelling], random(11, 3, 3)
    np.testing.assert_allclose(vjp(f, x)[0], f(x), rtol=1e-14)
    assert_both_modes(f, x)


def test_scipy_special_functions():
    special = pytest.importorskip("scipy.special")
    y = np.array([0.0, 1.0, 2.0])
    x = np.array([0.3, 1.2, 2.5])
    assert_both_modes(lambda x: special.expit(x) + special.log_expit(-x) + special.erf(x), x)
    assert_both_modes(lambda x: special.xlogy(y, x) - special.gammaln(y + 1), x)


def test_operations_are_listed():
    names = th.autodiff.operations()
    assert {"exp", "logaddexp", "matmul", "concatenate", "where"} <= set(names)
    assert set(names) <= set(FUNCTIONS)


SINGULAR = {
    "rank 2": np.arange(9.0).reshape(3, 3),
    "rank 1": np.ones((3, 3)),
    "zero": np.zeros((3, 3)),
    "rounding": np.diag([1.0, 1.0, 1e-13]) @ SQUARE,
    "one of a stack": np.stack([SQUARE, np.arange(9.0).reshape(3, 3)]),
    "one entry": np.zeros((1, 1)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_determinants_of_singular_matrices(name):
    """A determinant is a polynomial, which has derivatives where no inverse exists."""
    assert_both_modes(np.linalg.det, SINGULAR[name])
    assert_second_derivatives(np.linalg.det, SINGULAR[name])


def test_the_logarithm_of_a_determinant_of_0_has_no_derivative():
    with pytest.raises(th.errors.DataError, match="where the determinant is 0"):
        gradient(lambda a: np.linalg.slogdet(a)[1])(np.ones((2, 2)))
    found = gradient(lambda a: np.linalg.slogdet(a).logabsdet)(SQUARE)
    np.testing.assert_allclose(found, np.linalg.inv(SQUARE).T)


# Conventions where no derivative exists.


def test_norms_and_deviations_at_0_have_the_derivative_0():
    for ord in (None, 1, 2, 3, np.inf):
        found = gradient(lambda x, p=ord: np.linalg.norm(x, p))(np.zeros(3, np.float32))
        np.testing.assert_array_equal(found, np.zeros(3, np.float32))
        assert found.dtype == np.float32
    rows = gradient(lambda x: np.linalg.norm(x, axis=1).sum())(np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(rows, [[0.0, 0.0], [0.6, 0.8]])
    np.testing.assert_array_equal(gradient(np.std)(np.ones(3)), 0)


def test_ties_share_the_derivative_evenly():
    x = np.array([1.0, 3.0, 3.0])
    np.testing.assert_array_equal(gradient(np.max)(x), [0, 0.5, 0.5])
    np.testing.assert_array_equal(jacobian(lambda x: np.max(x), x, "forward"), [0, 0.5, 0.5])
    left, right = gradient(lambda pair: np.maximum(*pair))((np.float64(2.0), np.float64(2.0)))
    assert left == right == 0.5
    assert gradient(np.abs)(0.0) == 0


def test_products_with_logarithms_and_lengths_at_zero():
    special = pytest.importorskip("scipy.special")
    y, x = np.array([0.0, 0.0, 2.0]), np.array([0.0, 4.0, 4.0])
    np.testing.assert_array_equal(gradient(lambda x: special.xlogy(y, x).sum())(x), [0, 0, 0.5])
    np.testing.assert_array_equal(gradient(lambda x: np.hypot(x[0], x[1]))(np.zeros(2)), 0)
    np.testing.assert_allclose(gradient(lambda x: np.hypot(*x))(np.array([3.0, 4.0])), [0.6, 0.8])


def test_powers_at_zero():
    x = np.array([0.0, 2.0])
    np.testing.assert_array_equal(gradient(lambda x: np.sum(x**2 + x**1 + x**0))(x), [1, 5])
    np.testing.assert_array_equal(gradient(lambda x: np.sum(x ** np.array([0.0, 3.0])))(x), [0, 12])
    np.testing.assert_array_equal(gradient(lambda p: np.sum(x**p))(np.array([2.0, 1.0]))[0], 0)
    np.testing.assert_array_equal(hessian(lambda x: np.sum(x**2), x), 2 * np.eye(2))


def test_product_at_zeros():
    H = hessian(np.prod, np.array([0.0, 2.0, 3.0]))
    np.testing.assert_array_equal(H, [[0, 3, 2], [3, 0, 0], [2, 0, 0]])
    np.testing.assert_array_equal(gradient(np.prod)(np.array([0.0, 0.0, 3.0])), 0)
