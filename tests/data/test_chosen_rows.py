"""Rows by number: the same from memory and from a stream."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.data.chunked import Chunked, OnlyBlocks
from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.validation import as_source

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((1500, 3)), RANDOM.standard_normal(1500)
NUMBERS = np.array([1400, 3, 700, 3, 612, 613])


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_rows_come_in_the_order_asked_for(where):
    rows = Chunked(X=X, y=Y, n_features=3, has_target=True)
    stream = OnlyBlocks(rows=rows, n_features=3, has_target=True)
    rows = chosen_rows(as_source(X, Y) if where == "memory" else stream, NUMBERS)
    np.testing.assert_array_equal(rows.X, X[NUMBERS])
    np.testing.assert_array_equal(rows.y, Y[NUMBERS])
    assert rows.weight is None


def test_sparse_rows_stay_sparse_and_weights_follow():
    rows = chosen_rows(as_source(sp.csr_array(X), Y, np.arange(1500.0)), NUMBERS)
    np.testing.assert_array_equal(rows.X.toarray(), X[NUMBERS])
    np.testing.assert_array_equal(rows.weight, NUMBERS)
