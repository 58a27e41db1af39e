"""Dense blocks of a few columns of sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat import _native
from thetahat.models.tree import sparse_rows

USED = np.array([1, 4, 8])


def places(d=9):
    found = np.full(d, -1, dtype=np.int32)
    found[USED] = np.arange(len(USED))
    return found


def rows(dtype=np.float64, index=np.int32):
    X = sp.random_array((20, 9), density=0.3, rng=np.random.default_rng(0), dtype=dtype).tocsr()
    return sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cells", [1, 12, 1000])
def test_blocks_are_the_columns_of_the_dense_rows(dtype, index, cells, monkeypatch):
    monkeypatch.setattr(sparse_rows, "BLOCK_CELLS", cells)
    X = rows(dtype, index)
    found = [(part, block.copy()) for part, block in sparse_rows.dense_blocks(X, places(), 3)]
    assert [part.start for part, _ in found] == list(range(0, 20, max(1, min(20, cells // 3))))
    np.testing.assert_array_equal(np.concatenate([b for _, b in found]), X.toarray()[:, USED])


def test_the_block_is_zero_again_and_equal_entries_are_added():
    data, indices = np.array([1.0, 2.0, 4.0]), np.array([4, 4, 0], dtype=np.int32)
    indptr, block = np.array([0, 3], dtype=np.int32), np.zeros((1, 3))
    _native.fill_sparse_block(data, indices, indptr, places(), 0, False, block)
    assert block.tolist() == [[0.0, 3.0, 0.0]]
    _native.fill_sparse_block(data, indices, indptr, places(), 0, True, block)
    assert not block.any()


def test_wrong_indices_are_refused():
    data, block = np.ones(1), np.zeros((1, 3))
    ends = np.array([0, 1], dtype=np.int32)
    for column in (-1, 9):
        wrong = np.array([column], dtype=np.int32)
        with pytest.raises(ValueError, match="does not exist"):
            _native.fill_sparse_block(data, wrong, ends, places(), 0, False, block)
    zero = np.zeros(1, dtype=np.int32)
    with pytest.raises(ValueError, match="at most as many rows"):
        _native.fill_sparse_block(data, zero, ends, places(), 1, False, block)
    with pytest.raises(ValueError, match="end with the entries"):
        _native.fill_sparse_block(data, zero, ends + ends, places(), 0, False, block)
    with pytest.raises(ValueError, match="does not exist"):
        _native.fill_sparse_block(data, zero, ends, zero + 3, 0, False, block)


def test_sparse_boosting_with_columns_that_lose_their_rows_is_that_of_dense_rows():
    """Columns are left out in leaves with too few of their entries, by subtraction."""
    random = np.random.default_rng(3)
    common = sp.random_array((900, 8), density=0.3, rng=random)
    X = sp.csr_array(sp.hstack([sp.random_array((900, 60), density=0.05, rng=random), common]))
    y = common @ random.standard_normal(8) + 0.1 * random.standard_normal(900)
    for weight in (None, random.integers(1, 4, 900).astype(float)):
        model = th.HistGradientBoostingRegressor(max_iter=15, early_stopping=False)
        sparse = model.fit(X, y, sample_weight=weight).predict(X)
        dense = model.fit(X.toarray(), y, sample_weight=weight).predict(X.toarray())
        np.testing.assert_array_equal(sparse, dense)
