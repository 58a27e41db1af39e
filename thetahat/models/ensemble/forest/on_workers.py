"""Trees of a forest grown by the workers of a Dask cluster.

The workers code their partitions, one byte per value, and the codes are sent to all workers. Each
worker grows whole trees on all rows. A tree depends on its seed and the codes alone, so the forest
has the same bits for any partitions and workers, and those of the same rows in a file. The rows
that a tree draws are drawn where it grows. Trees of forests have about as many leaves as rows:
histograms of all their open nodes would be larger than the codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.distributed.cluster import (
    KEPT_SHARE,
    computed,
    kept,
    threads_of_all,
    worker_sizes,
)
from thetahat.data.distributed.partition import packed, unpacked
from thetahat.data.distributed.pieces import dask
from thetahat.data.distributed.streamed_partitions import partitions_of
from thetahat.data.in_memory import InMemory
from thetahat.data.row_pieces import StreamedRows
from thetahat.data.source import kernel_weights
from thetahat.foundation.types import Array
from thetahat.models.tree.growth.codes import BinTable, bin_table
from thetahat.models.tree.growth.columns import TreeColumns

ROW_BYTES = 128
"""Memory for each row of a tree while it grows: weights, targets, sums, row numbers, nodes."""

Batch = tuple[Array, ...]
"""Trees as returned by `_native.grow_forest`."""


@dataclass(frozen=True)
class WorkerColumns:
    """The columns of all rows as codes, on the workers."""

    codes: Any
    """A delayed array, (d, n) (uint8)."""
    targets: Any
    """Delayed targets and weights."""
    table: BinTable
    random: bool
    """Whether splits are random."""
    threads: int
    """Number of threads of all workers."""

    def grow(self, settings: Mapping[str, Any], seeds: Array) -> list[Batch]:
        """The trees of the seeds in order, in one batch per thread."""
        each = dask("delayed").delayed(_grown, pure=False)
        work = packed(_grown, (self.table, self.random, dict(settings)))
        shares = np.array_split(seeds, min(self.threads, len(seeds)))
        return computed([each(self.codes, self.targets, work, share) for share in shares])


def columns_on_workers(
    X: Any,
    y: Array,
    weight: Array | None,
    columns: TreeColumns,
    splits: str,
    random: bool,
) -> WorkerColumns | None:
    """Code rows on the workers; None if the rows are elsewhere, or too many for a worker."""
    source = partitions_of(X)
    if source is None or X.numbers is not None or not _fits(X, y):
        return None
    table = bin_table(X, weight, columns, splits)
    delayed = dask("delayed").delayed
    parts = source.tasks(_codes, packed(_codes, (table, X.read)))
    small = y.astype(np.int8)
    targets = (small if (small == y).all() else y), weight
    codes, sent = kept([delayed(_joined, pure=False)(*parts), delayed(targets, traverse=False)])
    return WorkerColumns(codes, sent, table, random, threads_of_all())


def _fits(X: StreamedRows, y: Array) -> bool:
    """Whether every worker has room for the codes of all rows, and for the trees it grows."""
    n, d = X.shape
    return all(
        n * (2 * d + 8 * (y.shape[1] + 1) + ROW_BYTES * threads) <= KEPT_SHARE * memory
        for memory, threads in worker_sizes()
    )


def _codes(part: InMemory, start: int, work: bytes) -> Array:
    _, (table, read) = unpacked(work)
    codes: Array = table.codes(read(part.X))
    return codes


def _joined(*parts: Array) -> Array:
    return np.concatenate(parts, axis=1)


def _grown(codes: Array, targets: tuple[Array, Array | None], work: bytes, seeds: Array) -> Batch:
    _, (table, random, settings) = unpacked(work)
    y, weight = targets
    return _native.grow_forest(
        columns=table.forest_columns(codes, random),
        y=y.astype(np.float64),
        weight=kernel_weights(weight),
        seeds=seeds,
        threads=1,
        **settings,
    )
