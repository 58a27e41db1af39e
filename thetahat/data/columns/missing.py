"""Which entries of a table are missing."""

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
    """Ω, the entries of a table that are known, and those that are missing.

    Formula: methods that complete a matrix minimise Σ_{(i,j)∈Ω} ℓ(x_ij, x̂_ij) + R(X̂); how well they
    do is seen on entries of Ω that were hidden from them. Cost: n·d bytes.

    Attributes
    ----------
    missing : array of bool, shape (n, d)
        True where there is no value.
    names : tuple of str
        The columns.

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
        """Ω: True where there is a value."""
        return ~self.missing

    @property
    def n_missing(self) -> int:
        """How many entries are missing."""
        return int(np.count_nonzero(self.missing))

    @property
    def share(self) -> float:
        """The share of the entries that is missing; 0 of no entries."""
        return float(self.n_missing / max(self.missing.size, 1))

    @property
    def per_column(self) -> Array:
        """Missing entries of each column."""
        return np.count_nonzero(self.missing, axis=0)

    @property
    def per_row(self) -> Array:
        """Missing entries of each row."""
        return np.count_nonzero(self.missing, axis=1)

    def patterns(self) -> list[tuple[tuple[str, ...], int]]:
        """The columns that are missing together, with the number of such rows; most rows first.

        Returns
        -------
        list of (tuple of str, int)
            Rows without gaps have the pattern ``()``.
        """
        found, rows = np.unique(self.missing, axis=0, return_counts=True)
        named = [
            (tuple(name for name, gap in zip(self.names, row, strict=True) if gap), int(count))
            for row, count in zip(found, rows, strict=True)
        ]
        return sorted(named, key=lambda pattern: -pattern[1])

    def hide(self, share: float, random_state: Any = None) -> MissingMask:
        """Entries that are known, drawn at random, made missing too: to judge a completion by.

        Parameters
        ----------
        share : float in (0, 1)
            Of the known entries, how many to hide (at least one).
        random_state : int, Generator or None
            The draw.

        Returns
        -------
        MissingMask
            The old gaps and the new ones; ``new.missing & old.observed`` are those to judge by.
        """
        if not 0.0 < share < 1.0:
            raise ParameterError(
                f"MissingMask.hide: share={share!r} must lie between 0 and 1. 0.1 hides a tenth of "
                "the known entries."
            )
        known = np.flatnonzero(self.observed)
        if not known.size:
            raise DataError(
                "MissingMask.hide: every entry is missing, so that none can be hidden. Give a "
                "table that has values."
            )
        n_hidden = max(1, round(share * known.size))
        missing = self.missing.copy()
        missing.flat[generator(random_state).choice(known, n_hidden, replace=False)] = True
        return MissingMask(missing, self.names)

    def apply(self, X: Any) -> Array:
        """A copy of a matrix of numbers with NaN where entries are missing.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Numbers.

        Returns
        -------
        array of shape (n, d)
        """
        X = np.array(X, dtype=np.result_type(np.asarray(X).dtype, np.float32))
        if X.shape != self.missing.shape:
            raise DataError(
                f"MissingMask.apply: X has shape {X.shape}, the mask {self.missing.shape}. Give "
                "the table the mask was made of, or one of the same rows and columns."
            )
        X[self.missing] = np.nan
        return X


def missing_mask(X: Any) -> MissingMask:
    """Which entries of a table are missing: NaN, None, or what its library calls null.

    Formula: Ω = {(i, j): x_ij is known}. Cost: O(n·d).

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        A NumPy array, or a pandas, polars or Arrow table with columns of any kind.

    Returns
    -------
    MissingMask
        With ``missing`` and ``observed`` as arrays of bool, counts and patterns.

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
            "missing_mask: X is sparse, and a sparse array leaves out zeros, not missing values. "
            "Give X.toarray(), or MissingMask(X.toarray() == 0, names) where no entry is no value."
        )
    if not is_table(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(
                f"missing_mask: X has shape {X.shape}; rows and columns are needed. Use "
                "X.reshape(-1, 1) for one column."
            )
    columns = variables(X)
    if not columns:
        raise DataError("missing_mask: X has no columns. Give a table with one at least.")
    plain = isinstance(X, np.ndarray) and X.dtype.names is None
    names = tuple(f"x{column.label}" if plain else str(column.label) for column in columns)
    return MissingMask(np.column_stack([_gaps(column) for column in columns]), names)


def _gaps(column: Variable) -> Array:
    kind = column.declared_kind
    if kind is not None and kind.is_number:
        return np.isnan(column.numbers())
    return column.distinct()[1] < 0
