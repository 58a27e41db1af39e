"""Rows times the roots of their weights, against plain NumPy."""

import numpy as np
import pytest

from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("counting", [0.0, 0.3, 1.0])
def test_root_weighted(dtype, order, more, counting):
    random = np.random.default_rng(1)
    x = random.standard_normal((80, 14)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    weight = random.random(n) * (random.random(n) < counting)
    out = np.full((n, d + more), np.nan)
    count = _native.root_weighted(x, weight, out)
    wide = np.column_stack([x.astype(float), np.ones(n)])[:, : d + more]
    expected = (wide * np.sqrt(weight)[:, None])[weight != 0]
    assert count == len(expected)
    np.testing.assert_array_equal(out[:count], expected)


def test_weights_without_a_root():
    x, out = np.ones((3, 2)), np.empty((3, 2))
    assert _native.root_weighted(x, np.array([1.0, 0.0, -1.0]), out) == -1
    assert _native.root_weighted(x, np.array([1.0, 0.0, np.nan]), out) == 2
    assert np.isnan(out[1]).all()


@pytest.mark.parametrize("shapes", [(2, (3, 2)), (3, (2, 2)), (3, (3, 1)), (3, (3, 4))])
def test_sizes_are_checked(shapes):
    weights, out = shapes
    with pytest.raises(ValueError, match="must have"):
        _native.root_weighted(np.ones((3, 2)), np.ones(weights), np.empty(out))
