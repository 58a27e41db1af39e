"""Rows in arrays of this process: dense (also memory-mapped) or sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.columns.sizes import column_sizes
from thetahat.data.memory_map import release_rows
from thetahat.data.resampling import take_rows
from thetahat.data.source import Block, S, Source, row_weights, rows_per_block
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import well_placed_values
from thetahat.foundation.threads import blocks_in_flight, one_blas_thread
from thetahat.foundation.types import Array, Matrix, SparseMatrix

FEW_ENTRIES = 1 << 20
"""Entries of X that one thread adds up in less time than several threads need to share them."""
FEW_NUMBERS = 64
"""Entries of X, such as one row, whose predictions need no setting of threads."""
MOST_KEPT = 1 << 20
"""Sparse rows whose blocks are kept between passes; each block has its own bounds of rows."""


@dataclass(frozen=True, kw_only=True)
class InMemory(Source):
    """A 2-D NumPy array (in any memory order, or memory-mapped) or CSR array, read in place.

    A memory-mapped array is read block by block, and the pages of finished blocks are released, so
    only a few blocks are resident.
    """

    X: Matrix
    y: Array | None = None
    weight: Array | None = None
    numbers: Array | None = None
    """The number of each row before others were left out; None if none were."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(well_placed_values(state))

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_sparse(self) -> bool:
        return hasattr(self.X, "nnz")

    @property
    def sparse_X(self) -> SparseMatrix:
        """X where `is_sparse` is true."""
        return self.X

    @property
    def dense_X(self) -> Array:
        """X as a dense array. Cost: a copy of sparse rows, nothing for others."""
        return self.sparse_X.toarray() if self.is_sparse else self.X

    @property
    def row_weights(self) -> Array:
        """One weight per row: ones where all count alike."""
        return row_weights(self.weight, self.n_rows)

    @cached_property
    def column_sizes(self) -> Array:
        """Root mean squares of the entries of each column that are not 0. Cost: O(n d)."""
        return column_sizes(self.X)

    @cached_property
    def largest_entry(self) -> float:
        """The largest absolute value of the entries of X. Cost: O(n d)."""
        entries = self.sparse_X.data if self.is_sparse else self.X
        return float(max(entries.max(initial=0), -entries.min(initial=0)))

    def take(self, rows: Array) -> InMemory:
        """Some of the rows, in the order given."""
        return replace(
            self,
            X=take_rows(self.X, rows),
            y=None if self.y is None else self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
            numbers=None if self.numbers is None else self.numbers[rows],
        )

    def number_of(self, row: int) -> int:
        """The number that a row had before others were left out, for messages."""
        return int(row if self.numbers is None else self.numbers[row])

    def reduce(self, summarise: Callable[..., S], *params: Any) -> S:
        """As `Source.reduce`; a single block costs no more than `summarise` itself."""
        if self.n_rows > self.block_rows:
            return super().reduce(summarise, *params)
        with one_blas_thread():
            return summarise(self.whole, *params)

    def map_rows(self, function: Callable[[Block], Array]) -> Array:
        """As `Source.map_rows`; a few numbers cost no more than `function` itself.

        Products of so few numbers run on one thread anyway, which need not be requested.
        """
        if self.is_sparse or not 0 < self.X.size <= FEW_NUMBERS:
            return super().map_rows(function)
        found = function(self.whole)
        return found.copy() if np.may_share_memory(found, self.X) else found

    @cached_property
    def whole(self) -> Block:
        """All rows, as one block."""
        X = np.asarray(self.X) if isinstance(self.X, np.ndarray) else self.X
        return Block(X=X, y=self.y, weight=self.weight)

    def require_finite(self, *, missing: bool = False) -> None:
        """As `Source.require_finite`; sparse or few rows are cut up only for the error."""
        if self.is_sparse or self.X.size <= FEW_ENTRIES:
            entries = self.sparse_X.data if self.is_sparse else self.X
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(entries.sum(dtype=np.float64)):
                    return
        super().require_finite(missing=missing)

    def blocks(self) -> Iterator[Block]:
        if self.is_sparse and self.n_rows <= MOST_KEPT:
            yield from self._sparse_blocks
            return
        n, step = self.n_rows, self.block_rows
        behind = step * blocks_in_flight() if n > step else n
        for start in range(0, n, step):
            if start >= behind:
                release_rows(self.X, start - behind, start - behind + step)
            yield self.whole.take(slice(start, min(n, start + step)))

    @cached_property
    def _sparse_blocks(self) -> tuple[Block, ...]:
        """The blocks of sparse rows, made once: cutting them takes as long as a short pass.

        They are equally long, so that no thread waits for another that has a longer one.
        """
        n, count = self.n_rows, -(-self.n_rows // self.block_rows)
        return tuple(
            self.whole.take(slice(k * n // count, (k + 1) * n // count)) for k in range(count)
        )

    def map_few_rows(self, function: Callable[[Block], Array]) -> Array:
        """As `map_rows`, by one thread if X has few entries, for functions that only read them.

        Products of sparse rows run on one thread.
        """
        if self.is_sparse and 0 < self.n_rows <= self.block_rows:
            return function(self.whole)
        if self.is_sparse or self.X.size > FEW_ENTRIES:
            return self.map_rows(function)
        with one_blas_thread():
            return np.concatenate([function(block) for block in self.blocks()])

    def arrays(self) -> tuple[Matrix, Array | None, Array | None]:
        """X, y and the row weights, without a copy."""
        return self.X, None if self.y is None else self.target_values(self.y), self.weight

    @cached_property
    def block_rows(self) -> int:
        """Rows per block; for sparse rows by their stored entries, not by their width."""
        if not self.is_sparse:
            return rows_per_block(self.n_features)
        held = int(self.sparse_X.nnz) // max(1, self.n_rows)
        return rows_per_block(2 * held + 1)
