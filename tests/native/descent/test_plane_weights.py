"""Weights of the planes under a function beside their plain twin."""

import numpy as np
import pytest

from thetahat import _native


def test_plane_weights_agree_with_the_reference():
    from tests.reference.descent.plane_weights import pairwise_ascent

    random = np.random.default_rng(11)
    psi, delta = random.standard_normal((12, 3)), random.random(12)
    term = np.repeat(np.arange(4), 3)
    a, shares, alpha = np.tile([0.5, 0.5, 0.0], 4), np.array([0.4, 0.3, 0.2, 0.1]), 0.3
    starts = np.arange(0, 13, 3)
    w = (a * shares[term] / alpha) @ psi
    ours, at = a.copy(), w.copy()
    gap = _native.plane_weights(psi, delta, ours, np.arange(12), starts, shares, alpha, at, 7, 0.0)
    expected, expected_w, expected_gap = pairwise_ascent(psi, delta, a, starts, shares, alpha, w, 7)
    np.testing.assert_allclose(ours, expected, atol=1e-12)
    np.testing.assert_allclose(at, expected_w, atol=1e-12)
    np.testing.assert_allclose(gap, expected_gap, atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(ours, starts[:-1]), 1.0)
    np.testing.assert_allclose((ours * shares[term] / alpha) @ psi, at, atol=1e-12)
    with pytest.raises(ValueError, match="starts"):
        _native.plane_weights(psi, delta, ours, np.arange(12), starts[:-1], shares, alpha, at, 1, 0)
    wrong = np.arange(12) + 1
    with pytest.raises(ValueError, match="row numbers"):
        _native.plane_weights(psi, delta, ours, wrong, starts, shares, alpha, at, 1, 0)
