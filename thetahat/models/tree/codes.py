"""Columns as codes, for trees that count them: bins of near values, or one code per value.

Codes keep the order of the values, so a tree grown on codes is one on the values: with a code for
every distinct value its splits are exact, with at most 255 bins they lie between bins. The code
after the last stands for missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.bins import MAX_BINS, Bins
from thetahat.foundation.threads import n_threads
from thetahat.models.tree.columns import TreeColumns

Array = Any

EXACT_ROWS = 10_000
"""Rows up to which splits are exact unless asked otherwise; bins are faster beyond."""


@dataclass(frozen=True)
class ColumnCodes:
    """What each row holds, column after column, and what the codes mean in units of the data."""

    codes: Array
    """(d, n), uint8 where that holds them, else uint32."""
    n_codes: Array
    """Codes of each column; this number itself is the code of missing values (uint32)."""
    first: Array
    """Where the bounds of each column's codes begin (int64, d + 1)."""
    lowest: Array
    highest: Array
    """Bounds of the values that have a code, all columns one after the other (float64)."""
    categorical: Array
    """Whether the codes of a column are categories, without an order (uint8)."""
    exact: bool

    @classmethod
    def learn(
        cls, X: Array, weight: Array | None, columns: TreeColumns, splits: str = "auto"
    ) -> ColumnCodes:
        """Codes of a float matrix with NaN for missing values; `splits` as in forests.

        Categories keep their codes; where a column has more of them than there are bins, all
        columns are coded exactly. Cost: O(n·d log n) when exact, else O(n·d log bins).
        """
        n_categories = columns.n_categories
        many = n_categories.max(initial=0) > MAX_BINS
        if splits == "exact" or many or (splits == "auto" and X.shape[0] <= EXACT_ROWS):
            parts = [
                _categories(X[:, j], int(n_categories[j])) if is_categorical else _distinct(X[:, j])
                for j, is_categorical in enumerate(columns.is_categorical)
            ]
            most = max(len(lowest) for _, lowest, _ in parts)
            dtype = np.uint8 if most <= 255 else np.uint32
            codes = np.empty((X.shape[1], X.shape[0]), dtype=dtype)
            for place, (column, _, _) in zip(codes, parts, strict=True):
                place[:] = column
            return cls._of(codes, [part[1:] for part in parts], columns, exact=True)
        bins = Bins.learn(X, weight)
        codes = bins.codes(X, by_row=False).by_column
        _, starts = bins.flat_cuts
        first = starts + np.arange(starts.size)  # a bin more than cuts
        lowest, highest = np.empty(int(first[-1])), np.empty(int(first[-1]))
        none = np.empty(0)
        _native.code_bounds(
            X, codes, none if weight is None else weight, first, lowest, highest, n_threads()
        )
        bounds = [(lowest[start:end], highest[start:end]) for start, end in pairwise(first)]
        for j in columns.categorical:
            codes[j], *bounds[j] = _categories(X[:, j], int(n_categories[j]))
        return cls._of(codes, bounds, columns, exact=False)

    @classmethod
    def _of(
        cls, codes: Array, bounds: Sequence[Sequence[Array]], columns: TreeColumns, exact: bool
    ) -> ColumnCodes:
        sizes = np.array([len(lowest) for lowest, _ in bounds])
        return cls(
            codes=codes,
            n_codes=sizes.astype(np.uint32),
            first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            lowest=np.concatenate([lowest for lowest, _ in bounds], dtype=np.float64),
            highest=np.concatenate([highest for _, highest in bounds], dtype=np.float64),
            categorical=columns.is_categorical.astype(np.uint8),
            exact=exact,
        )


def _distinct(values: Array) -> tuple[Array, Array, Array]:
    """The place of each value among the distinct ones, and these."""
    missing = np.isnan(values)
    if not missing.any():
        found, codes = np.unique(values, return_inverse=True)
        return codes, found, found
    codes = np.empty(values.shape, dtype=np.int64)
    found, codes[~missing] = np.unique(values[~missing], return_inverse=True)
    if not found.size:
        found = np.zeros(1)  # nothing but missing values: one code that no row has
    codes[missing] = found.size
    return codes, found, found


def _categories(values: Array, n_categories: int) -> tuple[Array, Array, Array]:
    """Category codes, missing ones after the last."""
    n_categories = max(n_categories, 1)
    names = np.arange(n_categories, dtype=np.float64)
    return np.nan_to_num(values, nan=n_categories).astype(np.int64), names, names
