"""How rows in memory are cut into blocks."""

import numpy as np
import pytest
import scipy.sparse

from thetahat.data.validation import as_source


@pytest.mark.parametrize("rows", [1, 16_384, 20_000, 40_001])
def test_blocks_of_sparse_rows_are_equally_long(rows):
    X = scipy.sparse.random_array((rows, 20), density=0.1, rng=0, format="csr")
    y = np.arange(rows, dtype=float)
    source = as_source(X, y, None, accept_sparse=True)
    blocks = list(source.blocks())
    lengths = [block.n_rows for block in blocks]
    assert sum(lengths) == rows
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= source.block_rows
    assert [block.start for block in blocks] == [0, *np.cumsum(lengths)[:-1]]
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    np.testing.assert_array_equal(
        np.concatenate([block.X.toarray() for block in blocks]), X.toarray()
    )
