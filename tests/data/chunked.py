"""Rows in memory that are given in blocks, as a file gives them."""

from dataclasses import dataclass

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source


class Chunked(InMemory):
    """The same rows in blocks of an odd size, as a file would bring them."""

    block_rows = 613


@dataclass(frozen=True, kw_only=True)
class OnlyBlocks(Source):
    """The same rows, which nobody may look up by their number."""

    rows: Chunked

    @property
    def n_rows(self):
        return self.rows.n_rows

    def blocks(self):
        return self.rows.blocks()
