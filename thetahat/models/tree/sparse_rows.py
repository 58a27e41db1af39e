"""Sparse rows for prediction: few rows at a time, dense, with the columns that the trees use.

One dense block is filled with the entries of its rows and emptied again, so that all blocks
together cost O(entries), and the memory is that of one block.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thetahat.foundation.types import Array, SparseMatrix

BLOCK_CELLS = 1 << 17
"""Approximate number of cells of a block."""


def dense_blocks(X: SparseMatrix, columns: Array) -> Iterator[tuple[slice, Array]]:
    """The given columns (ascending) of sparse rows, block by block; the blocks share memory."""
    n, width = X.shape[0], columns.shape[0]
    rows = X.tocsr()
    if width < X.shape[1]:
        rows = rows[:, columns]
    size = max(1, min(n, BLOCK_CELLS // width))
    block = np.zeros((size, width), dtype=X.dtype)
    for start in range(0, n, size):
        stop = min(n, start + size)
        ends = rows.indptr[start : stop + 1]
        stored = slice(ends[0], ends[-1])
        places = (np.repeat(np.arange(stop - start), np.diff(ends)), rows.indices[stored])
        block[places] = rows.data[stored]
        yield slice(start, stop), block[: stop - start]
        block[places] = 0
