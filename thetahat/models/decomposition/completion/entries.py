"""The known entries of a matrix, row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix, SparseMatrix

LARGEST = 1e140
"""Entries beyond it, or all below its inverse, overflow or vanish in sums of squares."""


@dataclass(frozen=True)
class Entries:
    """Known values x_ij with their rows and columns, sorted by row and then by column."""

    rows: Array
    columns: Array
    values: Array
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: Matrix) -> Entries:
        """The entries that are not NaN; of a sparse matrix those that are stored."""
        if isinstance(X, np.ndarray):
            rows, columns = np.nonzero(~np.isnan(X))
            return cls(rows, columns, X[rows, columns].astype(np.float64), X.shape)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        known = ~np.isnan(X.data)
        values = X.data[known].astype(np.float64)
        found = cls(rows[known], X.indices[known].astype(np.intp), values, X.shape)
        return found.take(np.lexsort((found.columns, found.rows)))

    def take(self, which: Array) -> Entries:
        """Some of the entries, in the order given."""
        return replace(
            self,
            rows=self.rows[which],
            columns=self.columns[which],
            values=self.values[which],
        )

    @cached_property
    def transposed(self) -> Entries:
        """The entries of the transposed matrix."""
        order = np.argsort(self.columns, kind="stable")
        turned = Entries(self.columns, self.rows, self.values, self.shape[::-1])
        return turned.take(order)

    @cached_property
    def row_counts(self) -> Array:
        """Number of known entries of each row."""
        return np.bincount(self.rows, minlength=self.shape[0])

    @property
    def column_counts(self) -> Array:
        """Number of known entries of each column."""
        return np.bincount(self.columns, minlength=self.shape[1])

    def means(self, values: Array) -> Array:
        """Mean of the values of each row; 0 for rows without entries."""
        sums = np.bincount(self.rows, values, minlength=self.shape[0])
        return sums / np.maximum(self.row_counts, 1)

    def dense(self, fill: Array) -> Array:
        """The matrix with the given values where entries are not known."""
        full = np.array(np.broadcast_to(fill, self.shape), dtype=np.float64)
        full[self.rows, self.columns] = self.values
        return full

    def require_some_in_each(self, who: str, method: str) -> None:
        """Raise an error for a row or column without entries, which low rank does not determine."""
        for kind, counts in (("Row", self.row_counts), ("Column", self.column_counts)):
            if not counts.all():
                raise DataError(
                    f"{who}: {kind} {int(np.argmin(counts > 0))} has no known entry, so that "
                    f"method={method!r} cannot determine it. Drop it, or use method='als' or "
                    "'soft_impute', which shrink such entries to the offsets."
                )

    def require_some_in_rows(self, who: str, method: str) -> None:
        """The same for the rows of a block, whose numbers are not those of the matrix."""
        empty = int((self.row_counts == 0).sum())
        if empty:
            raise DataError(
                f"{who}: {empty} of the rows to transform {'has' if empty == 1 else 'have'} no "
                f"known entry, so that method={method!r} cannot determine "
                f"{'it. Drop it' if empty == 1 else 'them. Drop them'}, or use method='als', which "
                "shrinks such entries to the offsets."
            )

    def require_squares(self, who: str) -> None:
        """Raise an error for values whose squares overflow or all underflow."""
        largest = float(np.abs(self.values).max())
        if largest > LARGEST or 0 < largest < 1 / LARGEST:
            raise DataError(
                f"{who}: the largest known entry is {largest:.2g} in absolute value, but it must "
                f"be between {1 / LARGEST:g} and {LARGEST:g}, because sums of squares would "
                f"{'overflow' if largest > 1 else 'underflow'}. Multiply all entries by the same "
                "number."
            )


def require_known_once(X: Any, found: SparseMatrix, who: str) -> None:
    """Raise an error for sparse matrices that do not store every known entry exactly once.

    SciPy would add up duplicates, and fills the blocks and diagonals of some formats with zeros.
    """
    kind = getattr(X, "format", "")
    if kind == "dia" or (kind == "bsr" and X.blocksize != (1, 1)):
        raise DataError(
            f"{who}: a sparse matrix of format {kind!r} fills its "
            f"{'diagonals' if kind == 'dia' else 'blocks'} up with zeros, so that known zeros and "
            "missing entries look alike. Build X in the format 'coo', 'csr' or 'csc'."
        )
    if kind not in ("coo", "csr", "csc") or X.nnz == found.nnz:
        return
    coo = X.tocoo()
    order = np.lexsort((coo.col, coo.row))
    rows, columns = coo.row[order], coo.col[order]
    again = np.flatnonzero((np.diff(rows) == 0) & (np.diff(columns) == 0))
    if again.size:
        first = int(again[0])
        raise DataError(
            f"{who}: {again.size} {'entry is' if again.size == 1 else 'entries are'} stored more "
            f"than once, the first in row {rows[first]} and column {columns[first]}. Keep one "
            "value for each pair, for example the mean or the last one."
        )
