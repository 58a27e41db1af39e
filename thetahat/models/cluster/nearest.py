"""The nearest centre of every row of a block, exactly and with few distances.

Rows keep bounds of their distances while centres move (Hamerly), and most rows keep their centre
without a search. The others are compared with all centres by a matrix product in single precision,
of which a compiled filter measures again, exactly, what rounding leaves open. Labels do not depend
on bounds or on threads, and equal distances give the first centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array, Matrix, SparseMatrix

ROWS_AT_ONCE = 1024
"""Rows of one product, which stays in the cache until the filter has read it."""
DIRECT_COST = 1 << 16
"""Products of entries below which distances are computed one by one."""
DIRECT_WIDTH = 48
"""Entries of all centres up to which neither products nor bounds pay."""
FEW_COLUMNS = 7
"""Columns up to which this holds for more entries of all centres."""
DIRECT_WIDTH_OF_FEW = 160
"""So many: a search of several rows at once takes less time than the bounds of its rows."""
MOST_GAPS = 2048
"""Number of centres beyond which their distances from each other are not used."""
NEAR = 1e-8
"""Squares below this share of the largest ones have lost half of their digits."""
PAIRS_AT_ONCE = 1 << 21
"""Distances of sparse rows that are computed at once."""


@dataclass(frozen=True)
class Frame:
    """An origin near the rows and a factor that brings them to length 1, for single precision."""

    middle: Array
    scale: float

    @classmethod
    def around(cls, middle: Array, largest_square: float) -> Frame:
        """The frame of rows whose squared distance from the middle is at most this."""
        radius = np.sqrt(largest_square)
        return cls(middle, 1.0 / float(radius) if 1e-140 < radius < np.inf else 1.0)


class Centres:
    """Centres, how far each moved, and what a search of so many rows needs of them."""

    def __init__(
        self, centres: Array, frame: Frame, move: Array | None = None, n_rows: int | None = None
    ) -> None:
        self.values = np.ascontiguousarray(centres, dtype=np.float64)
        self.frame = frame
        k, d = self.values.shape
        self.move = np.zeros(k) if move is None else move
        self.half_gap = np.zeros(k)
        self.few = k * d <= (DIRECT_WIDTH_OF_FEW if d <= FEW_COLUMNS else DIRECT_WIDTH) or (
            n_rows is not None and n_rows * k * d <= DIRECT_COST
        )
        self.slack = float((2 * d + 16) * np.finfo(np.float32).eps)
        self._scaled: tuple[Array, Array] | None = None
        if move is not None and 1 < k <= MOST_GAPS and not self.few:
            self.half_gap = self._half_gaps()

    def _half_gaps(self) -> Array:
        """Lower bounds of half the distance of each centre from the next one."""
        about = self.values - self.frame.middle
        length = np.einsum("ij,ij->i", about, about)
        both = length[:, None] + length
        slack = (2 * about.shape[1] + 16) * EPSILON
        squares = (1.0 - slack) * both - 2.0 * (about @ about.T)
        np.fill_diagonal(squares, np.inf)
        return 0.5 * np.sqrt(np.maximum(squares.min(axis=1), 0.0))

    @property
    def scaled(self) -> tuple[Array, Array]:
        """−2·(c − μ)·scale in single precision, transposed, and (1 − slack) times the squares."""
        if self._scaled is None:
            single = ((self.values - self.frame.middle) * self.frame.scale).astype(np.float32)
            square = np.einsum("ij,ij->i", single, single, dtype=np.float64)
            low = ((1.0 - self.slack) * square).astype(np.float32)
            self._scaled = np.ascontiguousarray(-2.0 * single.T, dtype=np.float32), low
        return self._scaled


def find_nearest(X: Matrix, centres: Centres, label: Array, square: Array, lower: Array) -> int:
    """Update label, squared distance and bound of every row; returns how many labels changed.

    A bound of −∞ marks rows that have not been searched yet.
    """
    if not isinstance(X, np.ndarray):
        return _nearest_of_sparse(X, centres, label, square, lower)
    n, (k, d) = X.shape[0], centres.values.shape
    if centres.few:  # bounds do not pay
        every = np.arange(n, dtype=np.int32)
        return _native.settle_directly(X, every, centres.values, label, square, lower)
    doubtful = np.empty(n, dtype=np.int32)
    count = _native.rows_in_doubt(
        X, centres.values, centres.half_gap, centres.move, label, square, lower, doubtful
    )
    if count * k * d <= DIRECT_COST:
        return _native.settle_directly(X, doubtful[:count], centres.values, label, square, lower)
    most = min(count, ROWS_AT_ONCE)
    scaled, low = np.empty((most, d), dtype=np.float32), np.empty(most)
    products = np.empty((most, k), dtype=np.float32)
    across, centre_low = centres.scaled
    frame, changed = centres.frame, 0
    for start in range(0, count, most):
        which = doubtful[start : min(start + most, count)]
        m = len(which)
        _native.scaled_rows(X, which, frame.middle, frame.scale, centres.slack, scaled, low)
        np.matmul(scaled[:m], across, out=products[:m])
        changed += _native.settle_by_products(
            products, centre_low, low, frame.scale, X, which, centres.values, label, square, lower
        )
    return changed


def _nearest_of_sparse(
    X: Matrix, centres: Centres, label: Array, square: Array, length: Array
) -> int:
    """The same for sparse rows, by ‖x‖² + ‖c‖² − 2xᵀc, without bounds.

    In their place the first search leaves ‖x‖² for the next ones.
    """
    changed = 0
    step = max(1, PAIRS_AT_ONCE // len(centres.values))
    for start in range(0, X.shape[0], step):
        some = slice(start, start + step)
        rows = X if step >= X.shape[0] else X[some]
        if length[start] == -np.inf:
            length[some] = row_squares(rows)
        squares = squares_between(rows, centres.values, length[some])
        found = squares.argmin(axis=1)
        changed += int(np.count_nonzero(found != label[some]))
        label[some] = found
        square[some] = squares[np.arange(len(found)), found]
    return changed


def squares_between(X: Matrix, centres: Array, length: Array | None = None) -> Array:
    """‖x − c‖² of all rows and centres, in float64. Cost: O(n k d).

    ``length`` is ‖x‖² of sparse rows, if it is known.
    """
    if isinstance(X, np.ndarray):
        middle = centres.mean(axis=0)
        rows, about = X - middle, centres - middle
        with np.errstate(over="ignore", invalid="ignore"):
            length = np.einsum("ij,ij->i", rows, rows)
            squares = rows @ (-2.0 * about.T)
    else:
        about = centres
        length = row_squares(X) if length is None else length
        squares = np.empty((X.shape[0], len(centres)))
        across = np.ascontiguousarray(-2.0 * centres.T)
        _native.sparse_products(X.data, X.indices, X.indptr, across, squares)
    with np.errstate(over="ignore", invalid="ignore"):
        squares += length[:, None]
        squares += np.einsum("ij,ij->i", about, about)
        return np.maximum(squares, 0.0, out=squares)


def row_squares(X: SparseMatrix) -> Array:
    """‖x‖² of sparse rows."""
    entries = np.asarray(X.data, dtype=np.float64)
    with np.errstate(over="ignore"):
        squares = type(X)((entries * entries, X.indices, X.indptr), shape=X.shape, copy=False)
        return np.asarray(squares @ np.ones(X.shape[1]))


def distances_between(X: Matrix, centres: Array) -> Array:
    """‖x − c‖ of all rows and centres; rows near a centre are measured directly."""
    squares = squares_between(X, centres)
    require_measured(squares)
    if isinstance(X, np.ndarray):
        extent = squares.max(axis=1, initial=0.0) + float(np.ptp(centres, axis=0).max()) ** 2
        row, centre = np.nonzero(squares < NEAR * extent[:, None])
        for start in range(0, len(row), PAIRS_AT_ONCE // centres.shape[1] + 1):
            some = slice(start, start + PAIRS_AT_ONCE // centres.shape[1] + 1)
            gap = X[row[some]] - centres[centre[some]]
            squares[row[some], centre[some]] = np.einsum("ij,ij->i", gap, gap)
    return np.sqrt(squares, out=squares)


def nearest_centres(X: Matrix, centres: Array) -> tuple[Array, Array]:
    """The number of the nearest centre of every row, and its squared distance.

    Centres are contiguous, in float64.
    """
    n = X.shape[0]
    label, square, lower = np.zeros(n, dtype=np.int32), np.zeros(n), np.full(n, -np.inf)
    frame = Frame(np.zeros(0), 1.0)
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X)
        if X.size * len(centres) <= DIRECT_COST:
            every = np.arange(n, dtype=np.int32)
            _native.settle_directly(X, every, centres, label, square, lower)
            require_measured(square)
            return label, square
        middle = centres.mean(axis=0)
        about = X - middle
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", about, about)
        require_measured(squares)
        frame = Frame.around(middle, float(squares.max(initial=0.0)))
    find_nearest(X, Centres(centres, frame), label, square, lower)
    require_measured(square)
    return label, square


def require_measured(squares: Array) -> None:
    """Raise an error if squared distances overflow, so that the nearest centre is not known."""
    if not np.isfinite(squares).all():
        raise DataError(
            "Some rows are so large that their squared distances from the centres overflow, so "
            "that the nearest centre is not known. Rescale the columns, or leave out these rows."
        )


def contiguous(X: Any) -> Matrix:
    """The rows of a block as the compiled functions read them."""
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
