"""Substitution with a Cholesky factor, against its plain twin."""

import numpy as np
import pytest

from tests.reference import kernels as twin
from thetahat import _native


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 8, 31, 64])
def test_substitution(size):
    random = np.random.default_rng(size)
    root = random.standard_normal((size, size + 3))
    factor = np.linalg.cholesky(root @ root.T) if size else np.empty((0, 0))
    b = random.standard_normal(size)
    got, expected = b.copy(), b.copy()
    _native.solve_cholesky(factor, got)
    twin.solve_cholesky(factor, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(root @ (root.T @ got), b, rtol=1e-8, atol=1e-8)


def test_the_upper_part_is_not_read():
    factor = np.array([[2.0, np.nan], [1.0, 4.0]])
    x = np.array([2.0, 9.0])
    _native.solve_cholesky(factor, x)
    np.testing.assert_allclose(x, [0.25, 0.5])


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="square"):
        _native.solve_cholesky(np.eye(3), np.zeros(2))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 8, 31, 64])
def test_newton_direction(size):
    random = np.random.default_rng(size)
    root = random.standard_normal((size, size + 3)) * 10.0 ** random.integers(-6, 7, size)[:, None]
    hessian = root @ root.T
    # In the units in which the diagonal is 1, where the system is as good as it gets.
    scale = np.sqrt(np.diagonal(hessian))
    gradient = random.standard_normal(size)
    direction = gradient * scale
    assert _native.newton_direction(hessian, direction, 1e-11)
    scaled = hessian / scale / scale[:, None]
    np.testing.assert_allclose(scaled @ (direction * scale), -gradient, atol=1e-9)


@pytest.mark.parametrize(
    "hessian",
    [
        [[1.0, 1.0], [1.0, 1.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[0.0, 0.0], [0.0, 1.0]],
        [[np.nan] * 2] * 2,
    ],
    ids=["singular", "indefinite", "flat", "no numbers"],
)
def test_no_newton_direction(hessian):
    gradient = np.array([1.0, 2.0])
    assert not _native.newton_direction(np.array(hessian), gradient, 1e-11)
    assert gradient.tolist() == [1.0, 2.0]


def test_sizes_of_the_hessian_are_checked():
    with pytest.raises(ValueError, match="square"):
        _native.newton_direction(np.eye(3), np.zeros(2), 1e-11)
