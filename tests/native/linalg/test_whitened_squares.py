"""Squared distances to Gaussian classes, and quadratic forms, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.linalg.whitened_squares import quadratic_forms, whitened_squares
from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "reference", "precision"),
    [
        (_native.whitened_squares, whitened_squares, np.float64),
        (_native.quadratic_forms, quadratic_forms, np.float32),
    ],
    ids=["squares", "forms"],
)
@pytest.mark.parametrize("triangular", [True, False])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (300, 13), (33, 64)])
def test_sums_of_all_rows(dtype, function, reference, precision, triangular, n, d):
    random = np.random.default_rng(2)
    x = np.asfortranarray(random.standard_normal((n, d)).astype(dtype) + dtype(3))
    roots = random.standard_normal((3, d, d))
    roots = (np.triu(roots) if triangular else roots).astype(precision)
    offsets = random.standard_normal((3, d)).astype(precision)
    centre, scale = random.standard_normal(d) + 3, random.uniform(0.5, 2.0, d)
    out = np.empty((n, 4))
    function(x, centre, scale, roots, offsets, out)
    expected = reference(x, centre, scale, roots.astype(float), offsets.astype(float))
    tolerance = 1e-11 if precision is np.float64 else 2e-5
    np.testing.assert_allclose(out, expected, tolerance, tolerance * expected[:, -1].max())


def test_rows_do_not_depend_on_their_neighbours():
    random = np.random.default_rng(0)
    x, root = random.standard_normal((100, 9)), random.standard_normal((2, 9, 9))
    offset = random.standard_normal((2, 9))
    whole, one = np.empty((100, 3)), np.empty((1, 3))
    _native.whitened_squares(x, np.zeros(9), np.ones(9), root, offset, whole)
    for i in (0, 41, 99):
        _native.whitened_squares(x[i : i + 1], np.zeros(9), np.ones(9), root, offset, one)
        np.testing.assert_array_equal(one[0], whole[i])


def test_sizes_are_checked():
    x, root, offset = np.ones((4, 3)), np.ones((2, 3, 3)), np.ones((2, 3))
    with pytest.raises(ValueError, match="per column of x"):
        _native.whitened_squares(x, np.ones(2), np.ones(3), root, offset, np.empty((4, 3)))
    with pytest.raises(ValueError, match="offsets"):
        _native.whitened_squares(x, np.ones(3), np.ones(3), root, offset[:1], np.empty((4, 3)))
    with pytest.raises(ValueError, match="out must have"):
        _native.whitened_squares(x, np.ones(3), np.ones(3), root, offset, np.empty((4, 2)))
    wide = np.ones((2, 3, 4), dtype=np.float32)
    with pytest.raises(ValueError, match="square"):
        _native.quadratic_forms(
            x, np.ones(3), np.ones(3), wide, wide[:, 0].copy(), np.empty((4, 3))
        )
