"""Sums over the columns of pairs of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import thetahat as th
from thetahat.mathematics.kernels.pairs import squared_norms


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squared_norms_of_sparse_rows(dtype):
    """Also of empty rows, of entries that are stored twice, and of other formats."""
    dense = np.array([[0, 3, 4], [0, 0, 0], [1, 0, 2], [0, 0, 0]], dtype=dtype)
    twice = csr_array((np.array([1, 2, 4], dtype), [1, 1, 2], [0, 3, 3, 3, 3]), (4, 3))
    for rows, expected in (
        (csr_array(dense), [25, 0, 5, 0]),
        (csr_array(dense).tocsc(), [25, 0, 5, 0]),
        (twice, [25, 0, 0, 0]),
    ):
        found = squared_norms(rows)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == dtype
        np.testing.assert_array_equal(th.kernels.RBF().diagonal(rows), np.ones(4, dtype))
