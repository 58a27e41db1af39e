"""Bins: every value of a column as a code of one byte that keeps the order.

    code(x) = number of cut points < x,   so that  x ≤ cut[c]  ⇔  code(x) ≤ c

A column has at most 255 bins, and one more code for missing values. Cut points are weighted
quantiles, so bins have about the same weight; if a column has at most as many distinct values as
bins, each value has its own bin. Each category has its own bin; if there are more categories than
bins, the rarest share the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.source import weights_of
from thetahat.data.summaries.quantiles import QuantileSummary, Weighted, distinct
from thetahat.data.validation import is_sparse
from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import n_threads, ordered_map
from thetahat.foundation.types import Array, Matrix, SparseMatrix

MAX_BINS = 255
SAMPLE_ROWS = 1 << 16
"""Largest number of rows from which cut points are computed, taken at even distances."""
ROW_ALIGNMENT = 8
"""Bytes: rows of codes begin at multiples of this, so that fewer of them cross cache lines."""


@dataclass(frozen=True)
class Codes:
    """Rows as codes, stored by row and by column; a layout that was not requested is empty."""

    by_row: Array
    """(n, at least d) (uint8); entries after the last column are 0."""
    by_column: Array
    """(d, n) (uint8)."""


@dataclass(frozen=True)
class Bins:
    """How values become codes; computed once, then applied to any rows."""

    cuts: tuple[Array, ...]
    """For each column, the cut points in ascending order (float64); none for categories."""
    categories: dict[int, Array] = field(default_factory=dict)
    """For each categorical column, the bin of every category 0, …, K−1 (uint8)."""

    @classmethod
    def learn(
        cls,
        X: Matrix,
        weight: Array | None = None,
        *,
        max_bins: int = MAX_BINS,
        categorical: Sequence[int] = (),
        n_categories: Mapping[int, int] | None = None,
    ) -> Bins:
        """Bins of a float matrix with NaN for missing values.

        Columns of `categorical` hold category codes 0, …, K−1; `n_categories` has their numbers K
        if X is only a part of the rows. Cost: O(m·d log m) for m rows, at
        most `SAMPLE_ROWS` of them. Sparse rows have no categories, and only their entries are
        sorted.
        """
        if weight is not None:
            counted = weight > 0
            X, weight = (X, weight) if counted.all() else (X[counted], weight[counted])
        if X.shape[0] > SAMPLE_ROWS:
            rows = sampled_places(X.shape[0])
            sample, weight = X[rows], None if weight is None else weight[rows]
        else:
            sample = X
        if is_sparse(sample):
            return cls(_cuts_of_entries(sample, weight, max_bins))
        columns = np.ascontiguousarray(sample.T)
        kinds = set(categorical)

        def learned(j: int) -> Array:
            if j in kinds:  # rare categories matter, so use all rows
                known = n_categories or {}
                n_codes = known.get(j, int(np.nanmax(X[:, j], initial=-1.0)) + 1)
                return bins_of_categories(distinct(columns[j], weight), n_codes, max_bins)
            return _cuts_of_column(columns[j], weight, max_bins)

        return cls._of(list(ordered_map(learned, range(X.shape[1]))), kinds)

    @classmethod
    def from_summary(
        cls, summary: QuantileSummary, *, max_bins: int = MAX_BINS, categorical: Sequence[int] = ()
    ) -> Bins:
        """Bins from one pass over the rows of any source."""
        kinds = set(categorical)

        def learned(j: int) -> Array:
            column = summary.column(j)
            if j in kinds:
                n_categories = int(column.values.max(initial=-1.0)) + 1
                return bins_of_categories(column, n_categories, max_bins)
            return _native.quantile_cuts(column.values, column.weights, max_bins)

        return cls._of([learned(j) for j in range(len(summary.columns))], kinds)

    @classmethod
    def _of(cls, learned: list[Array], kinds: set[int]) -> Bins:
        cuts = tuple(np.empty(0) if j in kinds else found for j, found in enumerate(learned))
        return cls(cuts, {j: learned[j] for j in sorted(kinds)})

    @property
    def n_features(self) -> int:
        return len(self.cuts)

    @cached_property
    def n_bins(self) -> Array:
        """Number of bins of each column, without missing values, whose code is this number."""
        counts = np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)
        for j, lookup in self.categories.items():
            counts[j] = 1 + int(lookup.max(initial=0))
        return counts

    @cached_property
    def flat_cuts(self) -> tuple[Array, Array]:
        """The cut points of all columns, and where each column's begin (int64, d + 1)."""
        return _flat(self.cuts, np.float64)

    @cached_property
    def flat_categories(self) -> tuple[Array, Array]:
        """The bins of all categories, and where each column's begin (int64, d + 1)."""
        none = np.empty(0, dtype=np.uint8)
        return _flat([self.categories.get(j, none) for j in range(self.n_features)], np.uint8)

    @cached_property
    def values_of_codes(self) -> Array:
        """A value that each code stands for, (d, 256): the upper end of its bin.

        The last bin has no upper end, and missing values are NaN. A tree whose thresholds are cut
        points treats this value as it does all values of the bin.
        """
        values = np.full((self.n_features, MAX_BINS + 1), np.nan)
        for j, cuts in enumerate(self.cuts):
            values[j, : len(cuts)] = cuts
            values[j, len(cuts)] = np.inf
        for j, lookup in self.categories.items():
            bins, first = np.unique(lookup, return_index=True)
            values[j] = np.nan
            values[j, bins] = first
        return values

    def codes(self, X: Array, *, by_row: bool = True, by_column: bool = True) -> Codes:
        """Rows of any float matrix as codes. Cost: O(n·d log bins) time, n·d bytes per layout."""
        n, d = X.shape
        width = -(-d // ROW_ALIGNMENT) * ROW_ALIGNMENT
        codes = Codes(
            np.empty((n if by_row else 0, width), dtype=np.uint8),
            np.empty((d if by_column else 0, n), dtype=np.uint8),
        )
        _native.bin_codes(
            X,
            *self.flat_cuts,
            *self.flat_categories,
            codes.by_row,
            codes.by_column,
            n_threads() if n * d > 1 << 16 else 1,
        )
        return codes

    def sparse_codes(self, X: Matrix) -> _native.SparseCodes:
        """Codes of the entries of sparse rows other than zero. Cost: O(entries · log bins)."""
        starts, rows, values = entries_by_column(X)
        cuts, offsets = self.flat_cuts
        column = np.repeat(np.arange(self.n_features), np.diff(starts))
        low, high = offsets[column], offsets[column + 1]
        padded = np.append(cuts, np.inf)
        while (low < high).any():
            middle = (low + high) // 2
            below = (padded[middle] < values) & (low < high)
            low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
        codes = np.where(np.isnan(values), self.n_bins[column], low - offsets[column])
        negative = np.append(0, np.cumsum(cuts < 0.0))
        zero = negative[offsets[1:]] - negative[offsets[:-1]]
        return _native.sparse_bin_codes(
            starts,
            rows,
            codes.astype(np.uint8),
            self.n_bins + 1,
            zero.astype(np.uint8),
            X.shape[0],
        )


def sampled_places(n_rows: int) -> Array:
    """The rows from which cut points are computed if there are more than `SAMPLE_ROWS`."""
    return np.arange(SAMPLE_ROWS) * n_rows // SAMPLE_ROWS


def entries_by_column(X: SparseMatrix) -> tuple[Array, Array, Array]:
    """Where the columns of sparse rows begin, and rows and values of the entries other than 0."""
    columns = X.tocsc()
    columns = columns.copy() if columns is X else columns
    columns.eliminate_zeros()
    columns.sort_indices()
    return columns.indptr.astype(np.int64), columns.indices.astype(np.uint32), columns.data


def bins_of_categories(found: Weighted, n_categories: int, max_bins: int) -> Array:
    """The bin of each category code (uint8).

    If there are more categories than bins, the heaviest `max_bins` − 1 have their own bin, in the
    order of their codes, and all others share the last.
    """
    if n_categories <= max_bins:
        return np.arange(n_categories, dtype=np.uint8)
    weights = np.zeros(n_categories)
    weights[found.values.astype(np.intp)] = found.weights
    heaviest = np.sort(np.argsort(-weights, kind="stable")[: max_bins - 1])
    lookup = np.full(n_categories, max_bins - 1, dtype=np.uint8)
    lookup[heaviest] = np.arange(max_bins - 1)
    return lookup


def _cuts_of_column(values: Array, weight: Array | None, max_bins: int) -> Array:
    if weight is None:
        ordered = np.sort(values)  # NaN last
        n = int(np.searchsorted(ordered, np.nan)) if np.isnan(ordered[-1]) else len(ordered)
        return _native.quantile_cuts(ordered[:n], np.empty(0), max_bins)
    order = np.argsort(values)
    order = order[: len(order) - int(np.count_nonzero(np.isnan(values)))]
    return _native.quantile_cuts(values[order], weight[order], max_bins)


def _cuts_of_entries(X: Matrix, weight: Array | None, max_bins: int) -> tuple[Array, ...]:
    """Cut points of the columns of sparse rows; all zeros of a column count as one value."""
    starts, rows, values = entries_by_column(X)
    n = X.shape[0]
    total = float(n if weight is None else weight.sum())
    cuts = []
    for begin, end in pairwise(starts):
        stored = values[begin:end]
        weights = weights_of(weight, rows[begin:end])
        zeros = total - float(weights.sum())
        order = np.argsort(stored, kind="stable")[: np.count_nonzero(~np.isnan(stored))]
        stored, weights = stored[order], weights[order]
        if end - begin < n:
            place = np.searchsorted(stored, 0.0)
            # Several times as fast as np.insert, which counts for many short columns.
            stored = np.concatenate([stored[:place], [0.0], stored[place:]])
            weights = np.concatenate([weights[:place], [zeros], weights[place:]])
        cuts.append(_native.quantile_cuts(stored, weights, max_bins))
    return tuple(cuts)


def _flat(parts: Sequence[Array], dtype: Any) -> tuple[Array, Array]:
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return np.concatenate([np.empty(0, dtype=dtype), *parts]), offsets
