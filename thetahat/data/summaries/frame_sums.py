"""Sums of rows and of their squares about a frame, as a mergeable summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.data.arrays import is_device_array, to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, kernel_weights
from thetahat.data.summaries.frame import Frame, as_columns, packed_block
from thetahat.foundation.products import product
from thetahat.foundation.threads import WORTH_SHARING, n_threads
from thetahat.foundation.types import Array, SparseMatrix

PIECE_PRODUCTS = 4e10
"""Multiplications for one piece of rows in memory, which threads share. An interrupt waits for its
end."""


@dataclass(frozen=True)
class Sums:
    """Sums about the centre of a frame, in its units."""

    n_rows: int
    """Number of rows of positive weight."""
    weight: float
    first: Array
    second: Array

    @classmethod
    def of(cls, block: Block, weight: float, first: Array, second: Array) -> Sums:
        used = block.n_rows if block.weight is None else int((block.weight > 0).sum())
        return cls(used, float(weight), first, second)

    def merge(self, other: Sums) -> Sums:
        return replace(self, second=self.second.copy()).absorb(other)

    def absorb(self, other: Sums) -> Sums:
        """The same, in the memory of these sums, which must not be used elsewhere."""
        with np.errstate(over="ignore", invalid="ignore"):
            second = np.add(self.second, other.second, out=self.second)
            first = self.first + other.first
        return Sums(self.n_rows + other.n_rows, self.weight + other.weight, first, second)


def sums(block: Block, frame: Frame) -> Sums:
    """The sums of one block of dense, sparse or device rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        if is_device_array(block.X):
            packed = packed_block(block, frame, ones=True)
            square = to_host(product(packed.T, packed))
            return Sums.of(block, square[-1, -1], square[:-1, -1], square[:-1, :-1])
        if isinstance(block.X, np.ndarray):
            return _dense_sums(block, frame, max(1, block.n_rows), threads=1)
        return _sparse_sums(block, frame)


def _dense_sums(block: Block, frame: Frame, span: int, threads: int) -> Sums:
    width = frame.unit.size
    y = np.empty((block.n_rows, 0)) if block.y is None else as_columns(block.y)
    y = y.astype(np.float64, copy=False)
    root = np.sqrt(kernel_weights(block.weight))
    second, first = np.empty((width, width)), np.empty(width)
    _native.block_products(
        block.X, y, frame.centre, 1.0 / frame.unit, root, second, first, span, threads
    )
    total = float(block.n_rows)
    if block.weight is not None:  # by spans too, which may come one by one
        starts = range(0, block.n_rows, span)
        total = sum(float(block.weight[i : i + span].sum(dtype=np.float64)) for i in starts)
    return Sums.of(block, total, first, second)


def _sparse_sums(block: Block, frame: Frame) -> Sums:
    X: SparseMatrix = block.X
    d = X.shape[1]
    weight = kernel_weights(block.weight)
    y = np.empty((block.n_rows, 0)) if block.y is None else as_columns(block.y)
    y = (y - frame.centre[d:]) / frame.unit[d:]
    row_weight = weight if weight.size else np.ones(block.n_rows)
    width = d + y.shape[1]
    raw = np.empty((width, width))
    gram = np.zeros((d, d))
    _native.sparse_gram(X.data, X.indices, X.indptr, weight, gram)
    raw[:d, :d] = gram / frame.unit[:d] / frame.unit[:d, None]
    weighted = y * row_weight[:, None]
    raw[:d, d:] = (X.T @ weighted) / frame.unit[:d, None]
    raw[d:, :d] = raw[:d, d:].T
    raw[d:, d:] = y.T @ weighted
    first = np.concatenate([(X.T @ row_weight) / frame.unit[:d], weighted.sum(axis=0)])
    return Sums.of(block, row_weight.sum(), first, raw)


def sums_of_pieces(source: InMemory, frame: Frame) -> Iterator[Sums]:
    """Sums of large pieces of rows, whose spans are the blocks of the source."""
    span, products = source.block_rows, float(frame.unit.size**2)
    step = max(1, int(PIECE_PRODUCTS / products) // span) * span
    threads = n_threads() if source.n_rows * products >= WORTH_SHARING else 1
    for start in range(0, max(1, source.n_rows), step):
        piece = source.whole.take(slice(start, start + step))
        yield _dense_sums(piece, frame, span, threads)
