"""Sums of Huber's loss with a scale, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.losses.row_losses import design
from thetahat import _native

NONE = np.empty(0, dtype=bool)


def rows(n, d, dtype=np.float64):
    random = np.random.default_rng(n + d)
    x = random.standard_normal((n, d + 2)).astype(dtype)[:, 1 : d + 1]
    theta = random.standard_normal(d + 1)
    return x, theta, random.standard_t(2, n), random.integers(0, 3, n).astype(float)


def sums(x, theta, constant, y, weight, known):
    size = len(theta)
    inside = np.empty(len(y), dtype=bool)
    three, pulls, gram = np.full(3, np.nan), np.full((2, size), np.nan), np.full((size, size), 9.0)
    changes = _native.huber_sums(
        x, theta, constant, y, weight, 0.8, known, inside, three, pulls, gram
    )
    return inside, three, pulls, gram, changes


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 0), (37, 3), (300, 9), (1000, 30), (50, 300)])
def test_huber_sums(n, d, weighted, dtype):
    x, theta, noise, weight = rows(n, d, dtype)
    own = weight if weighted else np.ones(n)
    for parameters, constant in ((theta, 1.0), (theta, 2.0), (theta[:d], 1.0)):
        whole = design(x, len(parameters), constant)
        y = whole @ parameters + noise
        inside, three, pulls, gram, _ = sums(
            x, parameters, constant, y, weight if weighted else np.empty(0), NONE
        )
        residual = y - whole @ parameters
        inner = np.abs(residual) <= 0.8
        np.testing.assert_array_equal(inside, inner)
        near, far = own * inner, own * ~inner
        expected = [near @ residual**2, far.sum(), far @ np.abs(residual)]
        np.testing.assert_allclose(three, expected, rtol=1e-10, atol=1e-10)
        both = np.array([near * residual, far * np.sign(residual)])
        np.testing.assert_allclose(pulls, both @ whole, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(gram, whole.T @ (near[:, None] * whole), rtol=1e-9, atol=1e-9)


def test_from_a_known_point_the_matrix_is_the_change():
    x, theta, noise, weight = rows(200, 5)
    y = design(x, 6, 1.0) @ theta + noise
    known, _, _, before, _ = sums(x, theta, 1.0, y, weight, NONE)
    moved = theta + 0.3
    inside, _, _, change, changes = sums(x, moved, 1.0, y, weight, known)
    whole = sums(x, moved, 1.0, y, weight, NONE)[3]
    np.testing.assert_allclose(before + change, whole, rtol=1e-10, atol=1e-10)
    assert changes == np.count_nonzero(inside != known) > 0


def test_sizes_are_checked():
    x, y, theta, none = np.ones((3, 2)), np.ones(3), np.ones(2), np.empty(0)
    given = {
        "y": y,
        "weight": none,
        "known": NONE,
        "inside": np.ones(3, dtype=bool),
        "sums": np.empty(3),
        "pulls": np.empty((2, 2)),
        "gram": np.empty((2, 2)),
    }
    for wrong, rule in (
        ({"y": np.ones(2)}, "y and inside"),
        ({"weight": np.ones(2)}, "weight must be empty"),
        ({"known": np.ones(2, dtype=bool)}, "known must be empty"),
        ({"sums": np.empty(4)}, "three entries"),
        ({"pulls": np.empty((3, 2))}, "pulls must have two rows"),
        ({"gram": np.empty((3, 3))}, "gram as many as theta"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.huber_sums(x, theta, 1.0, reach=1.0, **{**given, **wrong})
