"""The sizes of columns."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from thetahat.data.columns.sizes import column_sizes


def test_units_take_no_second_matrix():
    X = np.random.default_rng(0).standard_normal((200_000, 4)) * [1.0, 1e3, 0.0, 1e-3]
    tracemalloc.start()
    try:
        found = column_sizes(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    expected = np.sqrt((X**2).mean(axis=0))
    expected[2] = 1.0
    np.testing.assert_allclose(found, expected)
    assert peak < X.nbytes


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_sizes_of_sparse_columns_are_those_of_dense_ones(scale):
    """Squares of the first and the last scale are no numbers."""
    X = scipy.sparse.random(60, 8, 0.3, format="csr", random_state=0) * scale
    X.data[::7] = 0.0
    X.data[X.indices == 3] = 0.0
    np.testing.assert_allclose(column_sizes(X), column_sizes(X.toarray()), rtol=1e-14)
