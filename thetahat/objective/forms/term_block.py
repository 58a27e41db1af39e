"""A block of a source as terms of a risk: what a stochastic method visits of rows in a file.

A file is read in order, once per epoch; the rows of each block are visited in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thetahat.data.source import Block
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class TermBlock:
    """The terms of a risk that belong to the rows of one block."""

    risk: Any
    block: Block

    @property
    def n_terms(self) -> int:
        """Rows of the block."""
        return self.block.n_rows

    def sample_gradient(self, theta: Array, rows: Array) -> Array:
        """∇F estimated from some rows of the block."""
        return self.risk.block_gradient(self.block.take(rows), theta)
