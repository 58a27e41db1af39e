"""Sums over the rows of each cluster, as a summary that merges: the update step of k-means.

For centres c and labels z it holds, for each cluster, Σ w(x − c), Σ w and the number of rows, and
the loss Σ w‖x − c_z‖². The next centres are c + Σ w(x − c)/Σ w, which keeps the digits of rows far
from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.source import Block, kernel_weights
from thetahat.foundation.types import Array
from thetahat.models.cluster.nearest import contiguous


@dataclass
class ClusterSums:
    """Sums about the centres, weights and counts of the clusters, loss, and changed labels."""

    sums: Array
    weight: Array
    count: Array
    loss: float
    changed: int = 0
    largest: float = 0.0
    """The largest squared distance of a row from its centre."""

    def merge(self, other: ClusterSums) -> ClusterSums:
        """The sums of both sets of rows."""
        return ClusterSums(
            self.sums + other.sums,
            self.weight + other.weight,
            self.count + other.count,
            self.loss + other.loss,
            self.changed + other.changed,
            max(self.largest, other.largest),
        )

    def absorb(self, other: ClusterSums) -> ClusterSums:
        """The same, in the memory of this summary."""
        self.sums += other.sums
        self.weight += other.weight
        self.count += other.count
        self.loss += other.loss
        self.changed += other.changed
        self.largest = max(self.largest, other.largest)
        return self

    def means(self, centres: Array) -> Array:
        """The means of the clusters; an empty cluster keeps its centre."""
        used = np.where(self.weight > 0, self.weight, np.inf)
        return np.asarray(centres + self.sums / used[:, None], dtype=np.float64)


def cluster_sums(
    block: Block, centres: Array, label: Array, square: Array, changed: int = 0
) -> ClusterSums:
    """The sums of one block for given labels and squared distances."""
    k, d = centres.shape
    sums: Array = np.zeros((k, d))
    total: Array = np.zeros(k)
    count: Array = np.zeros(k, dtype=np.int64)
    if isinstance(block.X, np.ndarray):
        weight = kernel_weights(block.weight)
        loss = _native.cluster_sums(
            contiguous(block.X), weight, label, square, centres, sums, total, count
        )
    else:
        X, weight = block.X, block.row_weights
        total = np.bincount(label, weight, minlength=k)
        count = np.bincount(label[weight > 0], minlength=k)
        _native.class_sums_sparse(
            X.data,
            X.indices,
            X.indptr,
            label.astype(np.int64),
            kernel_weights(block.weight),
            False,
            0.0,
            sums,
        )
        sums = sums - total[:, None] * centres  # counts of no entries are whole numbers
        loss = float(weight @ square)
    return ClusterSums(sums, total, count, loss, changed)
