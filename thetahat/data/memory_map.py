"""Release the pages of a memory-mapped array once its rows have been used.

Pages of a mapped file stay resident until the system needs the memory, so a pass over a large map
looks as if it had loaded the file. Releasing them keeps the process small; nothing is lost, because
the pages are backed by the file.
"""

from __future__ import annotations

import mmap

import numpy as np

from thetahat.foundation.types import Matrix


def release_rows(X: Matrix, start: int, stop: int) -> None:
    """Drop the resident pages of rows start to stop, if X maps a file row by row."""
    if not isinstance(X, np.memmap) or X.mode not in ("r", "r+") or not X.flags.c_contiguous:
        return
    mapping = getattr(X, "_mmap", None)
    if mapping is None or not hasattr(mapping, "madvise"):
        return
    base = np.frombuffer(mapping, dtype=np.uint8).ctypes.data
    offset = X.ctypes.data - base
    page = mmap.PAGESIZE
    # Whole pages only, because the rows on either side may still be in use.
    first = -(-(offset + start * X.strides[0]) // page) * page
    last = (offset + stop * X.strides[0]) // page * page
    if last > first:
        mapping.madvise(mmap.MADV_DONTNEED, first, last - first)
