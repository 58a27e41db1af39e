"""Compiled passes over all pairs of points, and isotonic regression, against plain versions."""

import numpy as np
import pytest

from tests.reference.manifold import embeddings as reference
from thetahat import _native


def pairs(n, p, seed=0):
    rng = np.random.default_rng(seed)
    delta = np.triu(rng.uniform(0.1, 2.0, (n, n)), 1)
    return delta + delta.T, rng.standard_normal((n, p))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 3), (63, 2), (64, 1), (65, 2), (300, 5)])
def test_passes_are_those_of_plain_sums(n, p, threads):
    delta, z = pairs(n, p)
    moved, gradient = np.empty_like(z), np.empty_like(z)
    stress, squares = _native.guttman_step(delta, z, moved, threads)
    expected = reference.guttman_step(delta, z)
    np.testing.assert_allclose([stress, squares], expected[:2], rtol=1e-12)
    np.testing.assert_allclose(moved, expected[2], rtol=1e-10, atol=1e-12)
    value = _native.squared_stress(delta, z, gradient, threads)
    expected = reference.squared_stress(delta, z)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-9)


def test_points_at_the_same_place_do_not_divide_by_zero():
    delta, z = pairs(10, 2)
    z[3] = z[7]
    moved = np.empty_like(z)
    _native.guttman_step(delta, z, moved, 1)
    np.testing.assert_allclose(moved, reference.guttman_step(delta, z)[2], atol=1e-12)


def test_wrong_shapes_are_refused():
    delta, z = pairs(5, 2)
    with pytest.raises(ValueError, match="one dissimilarity per pair"):
        _native.guttman_step(delta[:4], z, np.empty_like(z), 1)
    with pytest.raises(ValueError, match="shape of z"):
        _native.squared_stress(delta, z, np.empty((5, 1)), 1)


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_isotonic_values_are_the_nearest_that_do_not_fall(n):
    rng = np.random.default_rng(n)
    values, weights = rng.integers(0, 6, n) * 1.0, rng.uniform(0.5, 2.0, n)
    out = np.empty(n)
    _native.isotonic(values, weights, out)
    np.testing.assert_allclose(out, reference.isotonic(values, weights), rtol=1e-12)


def test_isotonic_weights_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        _native.isotonic(np.ones(2), np.zeros(2), np.empty(2))
