"""The terms of a risk in one block of a file, which stochastic methods visit in any order.

The file is read in order, once per epoch.
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
