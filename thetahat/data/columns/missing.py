"""Missing entries of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import Variable, variables
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class MissingMask:
    """The missing entries of a table, and the known ones (Ω).

    Formula: methods that complete a matrix minimise Σ_{(i,j)∈Ω} ℓ(x_ij, x̂_ij) + R(X̂). They are
    evaluated on entries of Ω that were hidden from them; see `hide`. Cost: n·d bytes.

    Attributes
    ----------
    missing : array of bool, shape (n, d)
        True where an entry is missing.
    names : tuple of str
        The names of the columns.
    observed : array of bool, shape (n, d)
        True where an entry is known (Ω).
    n_missing : int
        The number of missing entries.
    share : float
        The share of entries that are missing.
    per_column, per_row : array of int
        The number of missing entries of each column, and of each row.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan], [7.0, 8.0, 9.0]])
    >>> mask = th.data.missing_mask(X)
    >>> mask.n_missing, mask.per_column.tolist()
    (2, [0, 1, 1])
    >>> mask.patterns()
    [((), 1), (('x2',), 1), (('x1',), 1)]
    >>> harder = mask.hide(0.3, random_state=0)
    >>> hidden = harder.missing & mask.observed
    >>> int(hidden.sum()), int(np.isnan(harder.apply(X)).sum())
    (2, 4)
    """

    missing: Array
    names: tuple[str, ...]

    @property
    def observed(self) -> Array:
        """True where an entry is known (Ω)."""
        return ~self.missing

    @property
    def n_missing(self) -> int:
        """The number of missing entries."""
        return int(np.count_nonzero(self.missing))

    @property
    def share(self) -> float:
        """The share of entries that are missing; 0 for an empty table."""
        return float(self.n_missing / max(self.missing.size, 1))

    @property
    def per_column(self) -> Array:
        """The number of missing entries of each column."""
        return np.count_nonzero(self.missing, axis=0)

    @property
    def per_row(self) -> Array:
        """The number of missing entries of each row."""
        return np.count_nonzero(self.missing, axis=1)

    def patterns(self) -> list[tuple[tuple[str, ...], int]]:
        """The sets of columns that are missing together, the most frequent first.

        Returns
        -------
        list of (tuple of str, int)
            The names of the missing columns, and the number of rows with this pattern. Rows
            without missing entries have the pattern ``()``.
        """
        found, rows = np.unique(self.missing, axis=0, return_counts=True)
        named = [
            (tuple(name for name, gap in zip(self.names, row, strict=True) if gap), int(count))
            for row, count in zip(found, rows, strict=True)
        ]
        return sorted(named, key=lambda pattern: -pattern[1])

    def hide(self, share: float, random_state: Any = None) -> MissingMask:
        """Hide some known entries at random, to evaluate how well they are filled in.

        Parameters
        ----------
        share : float in (0, 1)
            The share of the known entries to hide. At least one entry is hidden.
        random_state : int, Generator or None
            Seed or generator for the draw. The same seed hides the same entries.

        Returns
        -------
        MissingMask
            A mask of the missing and the hidden entries. ``new.missing & old.observed`` are the
            hidden ones.
        """
        if not 0.0 < share < 1.0:
            raise ParameterError(
                f"MissingMask.hide: share={share!r} must lie between 0 and 1. For example, 0.1 "
                "hides a tenth of the known entries."
            )
        known = np.flatnonzero(self.observed)
        if not known.size:
            raise DataError(
                "MissingMask.hide: all entries are missing, so none can be hidden. Give a table "
                "with known entries."
            )
        n_hidden = max(1, round(share * known.size))
        missing = self.missing.copy()
        missing.flat[generator(random_state).choice(known, n_hidden, replace=False)] = True
        return MissingMask(missing, self.names)

    def apply(self, X: Any) -> Array:
        """Copy a matrix of numbers, with NaN where entries are missing.

        Parameters
        ----------
        X : array-like of shape (n, d)
            A matrix of numbers in the shape of the mask.

        Returns
        -------
        array of shape (n, d)
        """
        X = np.array(X, dtype=np.result_type(np.asarray(X).dtype, np.float32))
        if X.shape != self.missing.shape:
            raise DataError(
                f"MissingMask.apply: X has shape {X.shape}, but the mask has shape "
                f"{self.missing.shape}. Give a matrix of the same shape."
            )
        X[self.missing] = np.nan
        return X


def missing_mask(X: Any) -> MissingMask:
    """Find the missing entries of a table: NaN, None, or null values of its library.

    Formula: Ω = {(i, j): x_ij is known}. Cost: O(n·d).

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        A NumPy array, or a pandas, polars or Arrow table with columns of any type.

    Returns
    -------
    MissingMask
        The missing and the known entries as arrays of bool, with counts and patterns.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> mask = th.data.missing_mask(np.array([[1.0, np.nan], [2.0, 3.0]]))
    >>> mask.missing.tolist()
    [[False, True], [False, False]]
    >>> mask.share
    0.25
    """
    if is_sparse(X):
        raise DataError(
            "missing_mask: X is sparse, and a sparse array omits zeros, not missing values. Give "
            "X.toarray(), or MissingMask(X.toarray() == 0, names) if omitted entries are missing."
        )
    if not is_table(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(
                f"missing_mask: X has shape {X.shape}, but it must have rows and columns. Use "
                "X.reshape(-1, 1) for one column."
            )
    columns = variables(X)
    if not columns:
        raise DataError("missing_mask: X has no columns. Give a table with at least one column.")
    plain = isinstance(X, np.ndarray) and X.dtype.names is None
    names = tuple(f"x{column.label}" if plain else str(column.label) for column in columns)
    return MissingMask(np.column_stack([_gaps(column) for column in columns]), names)


def _gaps(column: Variable) -> Array:
    kind = column.declared_kind
    if kind is not None and kind.is_number:
        return np.isnan(column.numbers())
    return column.distinct()[1] < 0
