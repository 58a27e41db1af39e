"""The slopes c = (X − x̄)ᵀρ of dense columns, as exactly as somebody asks.

Where columns are contiguous they are read once, and written down in a byte per entry (compiled):

    x_ij − x̄_j = s_j q_ij ± s_j/2,    ρ_i = t p_i ± t/2    for integers q and p,

so c_j is s_j t qᵀp, give or take s_j (‖ρ‖₁ + 127 n t)/2. That tells of most columns that they are
far below a threshold, from an eighth of the memory; only the others are read again. Rows that are
contiguous are read whole: all columns at once, and always exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from thetahat import _native
from thetahat.foundation.memory import available_memory
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array

COLUMNS_PER_BLOCK, COLUMNS_IN_CACHE = 1024, 256
"""Columns whose slopes one thread works out at a time, and those that are read twice."""

EXACT: Array = np.zeros(1)
"""The slack of slopes that are what they say."""


class ColumnSlopes(ABC):
    """Dense columns, read in place and in blocks that threads share."""

    def __init__(self, X: Array, mean: Array) -> None:
        self.X, self.mean = X, mean

    @abstractmethod
    def survey(self, weight: Array, rooted: Array) -> tuple[Array, Array]:
        """Σ w (x_j − x̄_j)² and the slopes of a first ρ, in one pass."""

    @abstractmethod
    def near(
        self, rooted: Array, thresholds: Array | None, known: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Slopes, and how far each may be off: not at all unless it is certainly below.

        Columns whose slopes the caller knows already, and says so, need not be read.
        """

    def _each_block(self, work: Callable[[slice], None], size: int) -> None:
        """Every sum belongs to one column, so blocks of any size give the same bits."""
        d = self.X.shape[1]
        blocks = [slice(at, min(d, at + size)) for at in range(0, d, size)]
        parallel_for(work, blocks, self.X.size)


class CoarseSlopes(ColumnSlopes):
    """Contiguous columns, and a byte for each of their entries."""

    @staticmethod
    def suits(X: Array) -> bool:
        """Whether columns are contiguous, and the bytes fit."""
        return bool(X.strides[0] == X.itemsize and X.size < available_memory())

    def survey(self, weight: Array, rooted: Array) -> tuple[Array, Array]:
        n, d = self.X.shape
        squares, slopes, self._steps = np.empty(d), np.empty(d), np.empty(d)
        self._levels = np.empty((d, n), dtype=np.int8)
        self._each_block(
            lambda some: _native.survey_columns(
                self.X, self.mean, weight, rooted, some.start, some.stop, squares, slopes,
                self._steps, self._levels,
            ),
            COLUMNS_PER_BLOCK,
        )  # fmt: skip
        return squares, slopes

    def near(
        self, rooted: Array, thresholds: Array | None, known: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        d = self.X.shape[1]
        slopes, slack = np.empty(d), np.empty(d)
        least = np.zeros(d) if thresholds is None else thresholds.copy()
        if known is not None:
            least[known[0]] = np.inf
        self._each_block(
            lambda some: _native.slopes_near(
                self.X, self.mean, self._levels, self._steps, rooted, least, some.start,
                some.stop, slopes, slack,
            ),
            COLUMNS_PER_BLOCK,
        )  # fmt: skip
        if known is not None:
            slopes[known[0]], slack[known[0]] = known[1], 0.0
        return slopes, slack


class PlainSlopes(ColumnSlopes):
    """Columns in any order, all of them read each time."""

    def survey(self, weight: Array, rooted: Array) -> tuple[Array, Array]:
        squares, slopes = np.empty((2, self.X.shape[1]))

        def work(some: slice) -> None:  # both while the block is in the cache
            _native.column_squares(self.X[:, some], self.mean[some], weight, squares, some.start)
            self._correlate(some, rooted, slopes)

        self._each_block(work, COLUMNS_IN_CACHE)
        return squares, self._centred(slopes, rooted)

    def near(
        self, rooted: Array, thresholds: Array | None, known: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        slopes = np.empty(self.X.shape[1])
        self._each_block(lambda some: self._correlate(some, rooted, slopes), COLUMNS_PER_BLOCK)
        return self._centred(slopes, rooted), EXACT

    def _correlate(self, some: slice, rooted: Array, out: Array) -> None:
        block = self.X[:, some]
        if block.dtype == np.float64 and block.itemsize in block.strides:
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(block.T, rooted, out=out[some])
        else:  # in double precision, and without a copy
            _native.correlate(block, rooted, out, some.start)

    def _centred(self, slopes: Array, rooted: Array) -> Array:
        # Σ √w r is 0 up to rounding where there are means to take off.
        with np.errstate(over="ignore", invalid="ignore"):  # the squares tell of it
            return slopes - self.mean * np.sum(rooted)
