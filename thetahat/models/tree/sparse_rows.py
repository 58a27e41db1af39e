"""Sparse rows for prediction: few rows at a time, dense, with the columns that the trees use.

One dense block is filled with the entries of its rows and emptied again, so that all blocks
together cost O(entries), and the memory is that of one block.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array, SparseMatrix

BLOCK_CELLS = 1 << 17
"""Approximate number of cells of a block."""


def dense_blocks(X: SparseMatrix, places: Array, width: int) -> Iterator[tuple[slice, Array]]:
    """Some columns of sparse rows, block by block; the blocks share memory.

    `places` holds the column of the block for each column of X, -1 if it is not needed (int32).
    """
    n, rows = X.shape[0], X.tocsr()
    size = max(1, min(n, BLOCK_CELLS // width))
    block = np.zeros((size, width), dtype=X.dtype)
    for start in range(0, n, size):
        part = block[: min(size, n - start)]
        _native.fill_sparse_block(rows.data, rows.indices, rows.indptr, places, start, False, part)
        yield slice(start, start + len(part)), part
        if start + size < n:
            _native.fill_sparse_block(
                rows.data, rows.indices, rows.indptr, places, start, True, part
            )
