"""Selection of rows of any source by their numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.types import Array


def chosen_rows(source: Source, numbers: Array) -> Block:
    """The rows with these numbers, in that order. Cost: one pass if they are not in memory."""
    if isinstance(source, InMemory):
        return Block(X=source.X, y=source.y, weight=source.weight).take(numbers)
    ordered, place = np.unique(numbers, return_inverse=True)
    found = list(source.map_blocks(partial(_those_in, ordered=ordered)))

    def joined(parts: list[Array]) -> Array | None:
        return None if parts[0] is None else np.concatenate(parts)[place]

    columns = zip(*((part.X, part.y, part.weight) for part in found), strict=True)
    X, y, weight = (joined(list(parts)) for parts in columns)
    return Block(X=X, y=y, weight=weight)


def _those_in(block: Block, ordered: Array) -> Block:
    """The rows of a block whose numbers are among `ordered`, dense."""
    first, last = np.searchsorted(ordered, [block.start, block.start + block.n_rows])
    part = block.take(ordered[first:last] - block.start)
    return replace(part, X=dense_rows(part))
