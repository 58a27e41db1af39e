"""Columns in the form that forests use: ranks, bins of similar values, or plain values.

Codes keep the order of the values, so a tree grown on codes is a tree on the values. With ranks its
splits are exact; with at most 255 bins they lie between bins. The code after the last stands for
missing values. Random thresholds are drawn on the values themselves and need no codes; of rows that
are read from a source they are ends of bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.bins import MAX_BINS, Bins, entries_by_column
from thetahat.data.on_disk.code_store import bins_of_rows, codes_by_column
from thetahat.data.row_pieces import StreamedRows
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.memory import shortage_explained
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.growth.columns import TreeColumns

NO_CUTS = (np.empty(0), np.empty(0, dtype=np.int64))
EXACT_ROWS = 65_535
"""Nodes of up to this many rows are split exactly by default: ranks take two bytes."""


def columns_for_random_splits(
    X: Matrix, weight: Array | None, columns: TreeColumns, splits: str = "auto"
) -> _native.ForestColumns:
    """Values of a float matrix, column after column, with NaN for missing values.

    Rows of a source are binned for all `splits` but "exact". Cost: O(n·d), and a copy of the rows
    in float64; O(entries) for sparse rows; one byte per value for a source.
    """
    if isinstance(X, StreamedRows):
        return _streamed_codes(X, weight, columns, splits, random=True)
    if is_sparse(X):
        return _sparse_columns(X, as_values=True)
    with shortage_explained(*_need(X)):
        return _native.value_columns(X, *_kinds(columns), n_threads())


def column_codes(
    X: Matrix, weight: Array | None, columns: TreeColumns, splits: str = "auto"
) -> _native.ForestColumns:
    """Codes of a float matrix with NaN for missing values: bins for ``"histogram"``, else ranks.

    Categories keep their codes; where a column has more of them than there are bins, all
    columns become ranks. Rows of a source are binned for all `splits` but "exact". Cost: O(n·d)
    for ranks, O(n·d log bins) for bins; for sparse rows, the number of entries takes the place of
    n·d.
    """
    if isinstance(X, StreamedRows):
        return _streamed_codes(X, weight, columns, splits)
    if is_sparse(X):
        cuts = Bins.learn(X, weight).flat_cuts if splits == "histogram" else NO_CUTS
        return _sparse_columns(X, cuts)
    n_categories, is_categorical = _kinds(columns)
    if splits != "histogram" or n_categories.max(initial=0) > MAX_BINS:
        with shortage_explained(*_need(X)):
            return _native.ranked_columns(X, n_categories, is_categorical, n_threads())
    bins = Bins.learn(X, weight)
    codes = _codes_with_categories(X, bins, columns)
    n_codes = _number_of_codes(bins, columns)
    with shortage_explained(*_need(X)):
        return _native.binned_columns(X, codes, n_codes, is_categorical)


def _codes_with_categories(X: Array, bins: Bins, columns: TreeColumns) -> Array:
    """Bins of the numbers and the codes of the categories, (d, n)."""
    codes = bins.codes(X, by_row=False).by_column
    for j, n_categories in enumerate(columns.n_categories):
        if j in columns.categorical:
            codes[j] = np.nan_to_num(X[:, j], nan=n_categories)
    return codes


def _number_of_codes(bins: Bins, columns: TreeColumns) -> Array:
    n_codes = np.diff(bins.flat_cuts[1]) + 1
    return np.where(columns.is_categorical, columns.n_categories, n_codes).astype(np.uint32)


@dataclass(frozen=True)
class BinTable:
    """The bins of all columns of rows that are read from a source."""

    bins: Bins
    columns: TreeColumns

    def codes(self, values: Array) -> Array:
        """The codes of some rows, (d, n)."""
        return _codes_with_categories(values, self.bins, self.columns)

    def forest_columns(self, codes: Array, random: bool) -> _native.ForestColumns:
        """The columns of all rows; thresholds lie at the ends of bins."""
        upper = self.bins.values_of_codes
        lower = np.column_stack([np.full(len(upper), -np.inf), upper[:, :-1]])
        kinds = self.columns.is_categorical.astype(np.uint8)
        n_codes = _number_of_codes(self.bins, self.columns)
        return _native.coded_columns(codes, n_codes, kinds, lower, upper, random)


def _streamed_codes(
    rows: StreamedRows,
    weight: Array | None,
    columns: TreeColumns,
    splits: str,
    *,
    random: bool = False,
) -> _native.ForestColumns:
    """Codes of rows that are read from a source. Cost: two passes."""
    table = bin_table(rows, weight, columns, splits)
    return table.forest_columns(codes_by_column(rows, table.codes), random)


def bin_table(
    rows: StreamedRows, weight: Array | None, columns: TreeColumns, splits: str
) -> BinTable:
    """Bins of rows that are read from a source. Cost: one pass."""
    many = columns.n_categories.max(initial=0)
    if splits == "exact" or many > MAX_BINS:
        reason = (
            'splits="exact"' if splits == "exact" else f"a column with {many} categories (max. 255)"
        )
        raise CapabilityError(
            f"Rows that are read block by block are coded in one byte per value, which {reason} "
            'does not allow. Use splits="auto" and at most 255 categories per column, or load '
            "the rows with X, y, sample_weight = source.arrays()."
        )
    return BinTable(bins_of_rows(rows, weight), columns)


def _sparse_columns(
    X: Matrix, cuts: tuple[Array, Array] = NO_CUTS, *, as_values: bool = False
) -> _native.ForestColumns:
    """Stored entries of sparse rows: values, bins between `cuts`, or ranks without them."""
    with shortage_explained(*_need(X)):
        return _native.sparse_forest_columns(
            *entries_by_column(X), X.shape[0], as_values, *cuts, n_threads()
        )


def _need(X: Matrix) -> tuple[int, str, str]:
    """At most eight bytes per number for codes or values, and a column while it is sorted.

    Entries of sparse rows are stored by column and by row, with their values.
    """
    n, d = X.shape
    return (
        48 * X.nnz + 64 * d if is_sparse(X) else 8 * n * (d + 3 * n_threads()),
        f"Coding the columns of {n} × {d} numbers for a forest",
        "Use fewer rows or columns, or fewer threads with th.config(threads=...).",
    )


def _kinds(columns: TreeColumns) -> tuple[Array, Array]:
    """Number of categories of each column, and whether it is categorical."""
    return columns.n_categories.astype(np.uint32), columns.is_categorical.astype(np.uint8)
