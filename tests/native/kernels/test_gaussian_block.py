"""The compiled Gaussian kernel of inner products, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.kernels.smo import gaussian_block
from thetahat import _native


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (3, 8), (5, 21), (40, 64)])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 500.0])
def test_values_are_those_of_numpy(n, m, gamma):
    random = np.random.default_rng(0)
    X, Z = random.standard_normal((n, 4)), random.standard_normal((m, 4))
    X[: n // 2] = Z[0]  # distances 0 up to rounding, of either sign
    products, squares = X @ Z.T, ((X**2).sum(axis=1), (Z**2).sum(axis=1))
    found = products.copy()
    _native.gaussian_block(found, *squares, gamma)
    expected = gaussian_block(products, *squares, gamma)
    # Below e^(−708) the values are 0.
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-307)


def test_values_that_are_not_finite_stay_visible():
    found = np.array([[np.nan, 1.0, -np.inf]])
    _native.gaussian_block(found, np.ones(1), np.ones(3), 1.0)
    assert np.isnan(found[0, 0])
    assert found[0, 1:].tolist() == [1.0, 0.0]


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="one squared norm per row"):
        _native.gaussian_block(np.zeros((2, 3)), np.zeros(3), np.zeros(3), 1.0)
