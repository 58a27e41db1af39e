"""Sums of the softmax loss over rows in one pass, against their plain twin."""

import numpy as np
import pytest
import scipy.sparse

from tests.reference.losses import row_losses as twin
from thetahat import _native

SHAPES = [(1, 1, 1), (5, 0, 2), (63, 3, 3), (64, 20, 4), (65, 9, 17), (1500, 7, 3), (300, 200, 30)]
NO_WEIGHT = np.empty(0)


def problem_of(n, d, k, *, weighted=False, dtype=np.float64):
    """x as a slice of wider rows with many zeros, y, weights with some of them 0, and theta."""
    random = np.random.default_rng(n + d)
    x = (random.standard_normal((n, d + 3)) * (random.random((n, d + 3)) < 0.4)).astype(dtype)
    y = random.integers(0, k, n).astype(float)
    weight = random.integers(0, 3, n).astype(float) if weighted else NO_WEIGHT
    return x[:, 1 : d + 1], y, weight, random.standard_normal((d + 1) * k)


def sums(x, y, weight, theta, k, threads=1):
    slope = np.full(len(theta), np.nan)
    if scipy.sparse.issparse(x):
        x = (x.data, x.indices, x.indptr, x.shape[1])
    else:
        x = (x,)
    return _native.class_loss_sums(*x, y, weight, theta, k, slope, threads), slope


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_class_loss_sums(n, d, k, weighted, dtype):
    x, y, weight, theta = problem_of(n, d, k, weighted=weighted, dtype=dtype)
    for parameters in (theta, theta[: d * k]):
        expected = twin.class_loss_sums(x, y, weight, parameters, k)
        for rows in (x, np.ascontiguousarray(x), scipy.sparse.csr_array(x)):
            value, slope = sums(rows, y, weight, parameters, k)
            assert value == pytest.approx(expected[0], rel=1e-12, abs=1e-11)
            np.testing.assert_allclose(slope, expected[1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_number_of_threads_changes_no_bit(sparse):
    x, y, weight, theta = problem_of(5000, 12, 3, weighted=True)
    rows = scipy.sparse.csr_array(x) if sparse else x
    value, slope = sums(rows, y, weight, theta, 3)
    for threads in (2, 3):
        again, same = sums(rows, y, weight, theta, 3, threads)
        assert again == value
        np.testing.assert_array_equal(same, slope)


def test_small_losses_keep_their_digits():
    x, y = np.ones((2, 1)), np.array([0.0, 1.0])
    value, slope = sums(x[:1], y[:1], NO_WEIGHT, np.array([40.0, 0.0]), 2)
    assert value == pytest.approx(np.log1p(np.exp(-40.0)), rel=1e-14)
    np.testing.assert_allclose(slope, np.array([-1, 1]) * np.exp(-40.0), rtol=1e-14)
    value, slope = sums(x[1:], y[1:], NO_WEIGHT, np.array([2000.0, 0.0]), 2)
    assert value == 2000.0
    np.testing.assert_array_equal(slope, [1.0, -1.0])


def test_what_is_not_a_number_stays_so():
    for theta in ([np.nan, 0.0], [0.0, np.nan], [np.inf, 0.0]):
        value, _ = sums(np.ones((3, 1)), np.zeros(3), NO_WEIGHT, np.array(theta), 2)
        assert not np.isfinite(value)


def test_arguments_are_checked():
    x, y, theta = np.ones((3, 2)), np.zeros(3), np.zeros(6)
    with pytest.raises(ValueError, match="y must have one entry per row"):
        sums(x, y[:2], NO_WEIGHT, theta, 2)
    with pytest.raises(ValueError, match="numbers of classes"):
        sums(x, y + 2.0, NO_WEIGHT, theta, 2)
    with pytest.raises(ValueError, match="theta must have a row"):
        sums(x, y, NO_WEIGHT, theta[:3], 2)
    with pytest.raises(ValueError, match="theta must have a row"):
        sums(scipy.sparse.csr_array(x), y, NO_WEIGHT, theta[:3], 2)
    with pytest.raises(ValueError, match="weight must be empty"):
        sums(x, y, y[:1], theta, 2)
