"""The compiled passes of dense layers against plain ones."""

import numpy as np
import pytest

from tests.reference.neural import dense_pass as plain
from thetahat import _native

PRECISIONS = pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-12), (np.float32, 1e-4)])
SHAPES = pytest.mark.parametrize("shape", [(1, 1), (7, 33), (50, 64), (20, 150), (3, 0), (0, 5)])


def drawn(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@PRECISIONS
@SHAPES
@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_rectified_units_forward_and_backward(shape, leak, dtype, error):
    x, bias, slope = drawn(shape, dtype), drawn(shape[1], dtype, 1), drawn(shape, dtype, 2)
    out, pulled, sums = x.copy(), slope.copy(), np.full(shape[1], np.nan, dtype)
    _native.rectify(out, bias, leak)
    np.testing.assert_allclose(out, plain.rectify(x, bias, leak), rtol=error)
    _native.pull_rectified(out, pulled, sums, leak)
    expected, total = plain.pull_rectified(out, slope, leak)
    np.testing.assert_allclose(pulled, expected, rtol=error)
    np.testing.assert_allclose(sums, total, rtol=error, atol=error)


def test_nan_is_not_hidden_and_minus_infinity_gives_zero():
    out = np.array([[np.nan, -np.inf, 0.0, np.inf]])
    _native.rectify(out, np.zeros(4), 0.0)
    np.testing.assert_array_equal(out, [[np.nan, 0.0, 0.0, np.inf]])


@PRECISIONS
@pytest.mark.parametrize("used", [1, 3])
def test_slopes_of_pieces_and_penalty_are_added(used, dtype, error):
    gradients, theta = drawn((3, 20), dtype), drawn(20, dtype, 1)
    expected = plain.add_slopes(gradients, used, theta, 15, 0.5)
    _native.add_slopes(gradients, used, theta, 15, 0.5)
    np.testing.assert_allclose(gradients[0], expected, rtol=error, atol=error)


@PRECISIONS
@pytest.mark.parametrize("n_classes", [1, 2, 10])
def test_softmax_losses(n_classes, dtype, error):
    y = np.random.default_rng(3).integers(0, n_classes, 40).astype(np.float64)
    z = drawn((40, n_classes), dtype) * 3
    value, slope = np.empty(40, dtype), np.empty_like(z)
    _native.softmax_losses(y, z, value, slope, 2)
    expected, pulled = plain.softmax_losses(y, z.astype(np.float64))
    np.testing.assert_allclose(value, expected, rtol=error, atol=error)
    np.testing.assert_allclose(slope, pulled, rtol=error, atol=error)


def test_softmax_losses_keep_the_digits_of_small_values():
    value, slope = np.empty(1), np.empty((1, 2))
    _native.softmax_losses(np.zeros(1), np.array([[40.0, 0.0]]), value, slope, 1)
    np.testing.assert_allclose([value[0], slope[0, 0]], [np.exp(-40), -np.exp(-40)], rtol=1e-12)


def test_wrong_sizes_and_classes_are_refused():
    two, three = np.zeros(2), np.zeros((1, 3))
    with pytest.raises(ValueError, match="one entry per column of x"):
        _native.rectify(three, two, 0.0)
    with pytest.raises(ValueError, match="slope must have the shape of x"):
        _native.pull_rectified(three, np.zeros((2, 3)), np.zeros(3), 0.0)
    with pytest.raises(ValueError, match="number of rows of gradients"):
        _native.add_slopes(three, 2, np.zeros(3), 0, 0.0)
    with pytest.raises(ValueError, match="size of a gradient"):
        _native.add_slopes(three, 1, two, 0, 0.0)
    with pytest.raises(ValueError, match="numbers of columns"):
        _native.softmax_losses(np.array([3.0]), three, np.zeros(1), np.zeros((1, 3)), 1)
