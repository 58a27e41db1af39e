"""Rows, wherever they live, and the one way to run over them.

A `Source` hands out `Block`s of rows in a fixed order; ``source.reduce(summarise, *params)`` maps a
function over the blocks and merges what it returns. It is the only code that knows where rows live,
and every fit that is a sum over rows runs through it: in memory, from a file, on one thread or
many, with the same result.

A summary is any object with ``merge(other) -> summary``. Merging is associative up to rounding,
and the blocks and their order depend on the data alone, so the bits do not depend on the number of
threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from functools import reduce as fold
from typing import Any, Protocol, TypeVar

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.finite import require_finite_block
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array, Matrix

BLOCK_BYTES = 4 << 20
"""Target size of a block of rows: large enough for BLAS, small enough for a core's cache."""
WIDE_BLOCK_BYTES = 1 << 26
"""Largest block of rows too wide for the cache."""
MAX_BLOCK_ROWS = 1 << 14
MIN_BLOCK_ROWS = 256


class Summary(Protocol):
    """What `Source.reduce` can merge."""

    def merge(self, other: Any) -> Any: ...


S = TypeVar("S", bound=Summary)


@dataclass(frozen=True)
class Block:
    """Some consecutive rows.

    ``X`` is a 2-D NumPy array, a scipy.sparse CSR array, or a device array; ``y`` is None, (n,) or
    (n, k) in floating point; ``weight`` is None (all ones) or (n,), non-negative. ``start`` is the
    number of the first row.
    """

    X: Matrix
    y: Array | None = None
    weight: Array | None = None
    start: int = 0

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def targets(self) -> Array:
        """``y``, for methods that need it."""
        assert self.y is not None
        return self.y

    @property
    def row_weights(self) -> Array:
        """One weight per row: ones where all count alike."""
        return np.ones(self.n_rows) if self.weight is None else self.weight


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Rows (x, y, w) and what is known about them before any is read."""

    n_features: int
    n_outputs: int = 0
    """Columns of y; 0 when y is 1-D or absent."""
    dtype: Any = np.float64
    """float32 or float64: the precision of X, and of what is learned from it."""
    schema: Schema = field(default_factory=Schema)
    has_target: bool = False
    has_weight: bool = False

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are (a file may have to be counted first)."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The rows in order, the same blocks at every call."""

    def reduce(self, summarise: Callable[..., S], *params: Any) -> S:
        """Merge ``summarise(block, *params)`` over all blocks, in order.

        A summary of many numbers may offer ``absorb``: a merge that may reuse its own memory, for
        a whole that nobody else holds.
        """
        return fold(
            lambda whole, part: getattr(whole, "absorb", whole.merge)(part),
            ordered_map(lambda block: summarise(block, *params), self.blocks()),
        )

    def require_finite(self) -> None:
        """Raise a `DataError` naming column, row and value when X holds NaN or infinity."""
        for _ in ordered_map(self._require_finite_block, self.blocks()):
            pass

    def _require_finite_block(self, block: Block) -> None:
        require_finite_block(block.X, block.start, self.schema)

    def map_rows(self, function: Callable[[Block], Array]) -> Array:
        """Stack ``function(block)`` over all blocks: predictions, residuals, scores."""
        return np.concatenate(list(ordered_map(function, self.blocks())))


@cache
def rows_per_block(n_features: int) -> int:
    """Rows in a block of about `BLOCK_BYTES` as float64: a function of the width alone.

    Wide rows come in taller blocks, so that a d × d summary is worth its merge.
    """
    width = max(1, n_features)
    rows = max(BLOCK_BYTES // (8 * width), min(2 * width, WIDE_BLOCK_BYTES // (8 * width)))
    return int(
        min(MAX_BLOCK_ROWS, max(MIN_BLOCK_ROWS, 1 << (rows.bit_length() - 1 if rows else 0)))
    )
