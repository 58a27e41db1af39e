"""Rows on an accelerator or in another array library: torch and CuPy arrays.

The rows stay where they are. Summaries of blocks, such as d × d matrices, are copied to the host,
and the fitted parameters are copied back to the device of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array, Matrix

BLOCK_BYTES = 1 << 30
"""Blocks are large, because a device needs much work at once to be fast."""


@dataclass(frozen=True, kw_only=True)
class OnDevice(Source):
    """A 2-D array of torch or CuPy, with y and weights on the same device."""

    X: Matrix
    y: Array | None = None
    weight: Array | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def blocks(self) -> Iterator[Block]:
        step = max(1, BLOCK_BYTES // (8 * max(1, self.n_features)))
        whole = Block(X=self.X, y=self.y, weight=self.weight)
        for start in range(0, self.n_rows, step):
            yield whole.take(slice(start, min(self.n_rows, start + step)))

    def map_rows(self, function: Callable[[Block], Array]) -> Array:
        """Stack ``function(block)`` over all blocks, on the device."""
        from array_api_compat import array_namespace

        parts = [function(block) for block in self.blocks()]
        return parts[0] if len(parts) == 1 else array_namespace(parts[0]).concat(parts)
