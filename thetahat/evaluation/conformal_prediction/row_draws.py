"""A uniform number for each row, from its values and a seed.

The number of a row depends neither on the other rows nor on its place, so that a row gets the same
set of classes alone and in a table, and rows that are predicted one by one get different numbers.
Equal rows get equal numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from thetahat.data.arrays import to_host
from thetahat.data.columns.tables import is_table
from thetahat.foundation.types import Array

MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Shifts and multipliers of the generator SplitMix64."""


def row_draws(X: Any, random: np.random.Generator) -> Array:
    """A number in [0, 1) for each row, with one draw as the seed. Cost: O(n d)."""
    found = random.integers(2**63, size=1, dtype=np.uint64)
    for bits in _columns(X):
        found = _mixed(found * np.uint64(0x9E3779B97F4A7C15) + bits)
    return (_mixed(found) >> np.uint64(11)) * 2.0**-53


def _mixed(bits: Array) -> Array:
    for shift, multiplier in MIX:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(multiplier)
    return bits ^ (bits >> np.uint64(31))


def _columns(X: Any) -> Iterator[Array]:
    """64 bits for each entry of each column."""
    if sp.issparse(X):
        rows = X.tocsr()
        rows.sort_indices()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        yield np.array(
            [
                crc32(rows.data[a:b].astype(np.float64).tobytes())
                ^ crc32(rows.indices[a:b].astype(np.int64).tobytes())
                for a, b in ends
            ],
            dtype=np.uint64,
        )
    elif is_table(X):
        for name in _names(X):
            yield _bits(np.asarray(X[name]))
    else:
        for column in np.asarray(to_host(X)).T:
            yield _bits(column)


def _names(table: Any) -> Any:
    if isinstance(table, np.ndarray):
        return table.dtype.names
    return table.column_names if hasattr(table, "column_names") else table.columns


def _bits(column: Array) -> Array:
    if column.dtype.kind in "biuf":
        values = np.where(np.isnan(column), np.nan, column) if column.dtype.kind == "f" else column
        return (values.astype(np.float64) + 0.0).view(np.uint64)  # 0 and −0 are equal
    return np.array([crc32(str(each).encode()) for each in column.tolist()], dtype=np.uint64)
