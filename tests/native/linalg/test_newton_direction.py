"""Newton's direction: what solves the system, or a refusal."""

import numpy as np
import pytest

from thetahat import _native


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
