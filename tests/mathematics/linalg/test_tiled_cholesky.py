"""Factors and inverses that are computed in place, tile by tile."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place, inverse_in_place


@pytest.mark.parametrize("n", [1, 30, 256, 257, 700])
def test_inverse_replaces_the_factor(n):
    rows = np.random.default_rng(n).standard_normal((n, n))
    A = rows @ rows.T + n * np.eye(n)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            place = A.copy()
            assert cholesky_in_place(place)
            inverse_in_place(place)
            found.append(np.tril(place))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], np.tril(np.linalg.inv(A)), atol=1e-12)


def test_matrices_that_are_not_positive_definite_have_no_factor():
    assert not cholesky_in_place(-np.eye(3))
