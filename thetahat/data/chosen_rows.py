"""Some rows of a source by their number, wherever they live."""

from __future__ import annotations

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows
from thetahat.foundation.types import Array


def chosen_rows(source: Source, numbers: Array) -> Block:
    """The rows of these numbers, in that order. Cost: one pass, where they are not in memory."""
    if isinstance(source, InMemory):
        return Block(
            X=source.X[numbers],
            y=None if source.y is None else source.y[numbers],
            weight=None if source.weight is None else source.weight[numbers],
        )
    ordered, place = np.unique(numbers, return_inverse=True)
    found = [
        _of_block(block, ordered[_first(ordered, block) : _last(ordered, block)] - block.start)
        for block in source.blocks()
    ]

    def joined(parts: list[Array]) -> Array | None:
        return None if parts[0] is None else np.concatenate(parts)[place]

    columns = zip(*((part.X, part.y, part.weight) for part in found), strict=True)
    X, y, weight = (joined(list(parts)) for parts in columns)
    return Block(X=X, y=y, weight=weight)


def _first(ordered: Array, block: Block) -> int:
    return int(np.searchsorted(ordered, block.start))


def _last(ordered: Array, block: Block) -> int:
    return int(np.searchsorted(ordered, block.start + block.n_rows))


def _of_block(block: Block, rows: Array) -> Block:
    return Block(
        X=dense_rows(Block(X=block.X[rows])),
        y=None if block.y is None else block.y[rows],
        weight=None if block.weight is None else block.weight[rows],
    )
