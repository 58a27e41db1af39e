"""A combination of rows that are read in place."""

import numpy as np
import pytest

from thetahat import _native

RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.standard_normal((40, 30))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 23])
@pytest.mark.parametrize("width", [1, 17, 30])
def test_like_a_product(count, width):
    random = np.random.default_rng(301)
    rows, weights = random.permutation(40)[:count], random.standard_normal(count)
    out = np.full(width, 7.0)
    _native.combine_rows(MATRIX, rows, weights, out)
    np.testing.assert_allclose(out, weights @ MATRIX[rows, :width], atol=1e-12)


def test_of_part_of_a_larger_matrix_and_onto_what_it_reads():
    part, rows = MATRIX[3:20, 2:9], np.array([4, 0, 0])
    out = part[0].copy()
    _native.combine_rows(part, rows, np.array([1.0, 2.0, -1.0]), out)
    np.testing.assert_allclose(out, part[4] + part[0], atol=1e-12)


def test_wrong_sizes_are_refused():
    one, out = np.ones(1), np.ones(30)
    for wrong in (-1, 40):
        with pytest.raises(ValueError, match="row is out of range"):
            _native.combine_rows(MATRIX, np.array([wrong]), one, out)
    with pytest.raises(ValueError, match="contiguous"):
        _native.combine_rows(MATRIX.T, np.array([0]), one, out)
    with pytest.raises(ValueError, match="longer than a row"):
        _native.combine_rows(MATRIX, np.array([0]), one, np.ones(31))
    with pytest.raises(ValueError, match="one entry per row"):
        _native.combine_rows(MATRIX, np.array([0]), np.ones(2), out)
