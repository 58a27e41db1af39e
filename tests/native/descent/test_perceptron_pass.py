"""The compiled passes of the perceptron, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.descent.perceptron import kernel_perceptron_pass, perceptron_pass
from thetahat import _native


@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 1), (30, 4), (200, 70)])
def test_passes_are_those_of_numpy(n, d):
    random = np.random.default_rng(0)
    rows = random.integers(-3, 4, (n, d)).astype(np.float64)  # sums are exact in any order
    signs = np.where(random.random(n) < 0.5, -1.0, 1.0)
    weights = np.zeros(d)
    K, steps = rows @ rows.T, signs * random.integers(1, 3, n)
    values, counts = np.zeros(n), np.zeros(n)
    for _ in range(3):
        expected, made = perceptron_pass(rows, signs, weights)
        assert _native.perceptron_pass(rows, signs, weights) == made
        np.testing.assert_array_equal(weights, expected)
        *dual, made = kernel_perceptron_pass(K, 0.5, signs, steps, values, counts)
        arguments = (K, 0.5, signs, steps, values, counts)
        assert _native.kernel_perceptron_pass(*arguments) == made
        np.testing.assert_array_equal(values, dual[0])
        np.testing.assert_array_equal(counts, dual[1])


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="one sign per row"):
        _native.perceptron_pass(np.ones((3, 2)), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="K must be square"):
        _native.kernel_perceptron_pass(np.ones((3, 2)), 0.0, *np.ones((4, 3)))
