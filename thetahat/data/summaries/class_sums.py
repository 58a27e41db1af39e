"""Sums over the rows of each class as mergeable summaries: moments, and plain sums or counts.

For the rows of class c with weights w, `ClassMoments` holds, for every column on its own,

    W_c = Σ w,    mean_c = Σ w x / W_c,    scatter_c = Σ w (x − mean_c)²,

and `ClassSums` holds Σ w x, or Σ w·1[x > threshold]. Each block is centred at the means of its own
classes before it is squared, and two summaries merge by Chan's update, so large means cause no loss
of digits. Missing values (NaN) are left out of the sums of their column. y holds the codes of the
classes.

Cost of a reduction: O(n d) time, O(C d) memory per thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.arrays import to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source, kernel_weights
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class ClassMoments:
    """Weight, mean and sum of squared deviations of every class and column.

    ``count`` is the total weight of each class, (C,). ``weight`` is that of the rows whose entry is
    present, (C, d); ``mean`` is 0 where it is 0.
    """

    count: Array
    weight: Array
    mean: Array
    scatter: Array

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of both sets of rows (Chan's update)."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = other.mean - self.mean
            scatter = self.scatter + other.scatter + gap * gap * self.weight * share
        # A side without rows has no mean to differ from.
        mean = np.where(self.weight == 0, other.mean, self.mean + gap * share)
        return ClassMoments(self.count + other.count, weight, mean, scatter)

    @property
    def is_finite(self) -> bool:
        """Whether all entries were finite, and nothing overflowed."""
        return bool(np.isfinite(self.scatter).all() and np.isfinite(self.mean).all())

    @property
    def variance(self) -> Array:
        """scatter / W of every class and column; 0 where there are no rows."""
        empty = np.zeros_like(self.scatter)
        return np.divide(self.scatter, self.weight, out=empty, where=self.weight > 0)

    @property
    def total_variance(self) -> Array:
        """The variance of every column over the rows of all classes, (d,)."""
        weight = self.weight.sum(axis=0)
        weight = np.where(weight > 0, weight, 1.0)
        mean = (self.weight * self.mean).sum(axis=0) / weight
        between = self.weight * np.square(self.mean - mean)
        return (self.scatter + between).sum(axis=0) / weight


@dataclass(frozen=True)
class ClassSums:
    """The total weight of each class, the weighted sums of its columns, and the smallest entry."""

    count: Array
    sums: Array
    lowest: float

    def merge(self, other: ClassSums) -> ClassSums:
        """The sums of both sets of rows."""
        return ClassSums(
            self.count + other.count, self.sums + other.sums, min(self.lowest, other.lowest)
        )


def class_codes(block: Block) -> Array:
    """The codes of the classes of the rows, int64."""
    return to_host(block.targets).astype(np.int64)


def class_moments(source: Source, n_classes: int) -> ClassMoments:
    """The moments of every class over all rows of a source whose targets are codes."""
    return source.reduce(summarise_class_moments, n_classes)


def summarise_class_moments(block: Block, n_classes: int) -> ClassMoments:
    """The moments of every class in one block."""
    X = to_host(block.X)
    if not isinstance(X, np.ndarray):
        return _of_sparse_rows(X, block, n_classes)
    count = np.empty(n_classes)
    mean, scatter = np.empty((2, n_classes, X.shape[1]))
    _native.class_moments(X, class_codes(block), kernel_weights(block.weight), count, mean, scatter)
    # Infinite entries stay, so that they are found; missing ones are left out.
    if np.isnan(mean).any() and np.isnan(X).any():
        return _without_missing(X, block, n_classes)
    weight = np.repeat(count[:, None], X.shape[1], axis=1)
    return ClassMoments(count, weight, mean, scatter)


def _one_hot(block: Block, n_classes: int) -> Array:
    """The weight of every row in the column of its class, (n, C)."""
    rows = np.zeros((block.n_rows, n_classes))
    rows[np.arange(block.n_rows), class_codes(block)] = block.row_weights
    return rows


def _without_missing(X: Array, block: Block, n_classes: int) -> ClassMoments:
    """The same, with missing entries left out."""
    known = _one_hot(block, n_classes)
    code = class_codes(block)
    present = ~np.isnan(X)
    weight = known.T @ present
    divisor = np.where(weight > 0, weight, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        # About one known entry of the class, so that equal numbers have an exact mean.
        first = np.zeros((n_classes, X.shape[1]))
        for row in range(block.n_rows - 1, -1, -1):
            np.copyto(first[code[row]], X[row], where=present[row])
        gap = np.where(present, X - first[code], 0.0)
        mean = first + known.T @ gap / divisor
        gap = np.where(present, X - mean[code], 0.0)
        scatter = known.T @ np.square(gap)
    mean[weight == 0] = 0.0
    return ClassMoments(known.sum(axis=0), weight, mean, scatter)


def _of_sparse_rows(X: Any, block: Block, n_classes: int) -> ClassMoments:
    """The same for sparse rows, of which the entries that are not stored are 0."""
    d = X.shape[1]
    row_weight = np.asarray(block.row_weights, dtype=np.float64)
    code = class_codes(block)
    count = np.bincount(code, weights=row_weight, minlength=n_classes)
    per_row = np.diff(X.indptr)
    entry_class = np.repeat(code, per_row)
    entry_weight = np.repeat(row_weight, per_row)
    place = entry_class * d + X.indices
    value = X.data.astype(np.float64)
    missing = np.isnan(value)

    def added(amounts: Array) -> Array:
        return np.bincount(place, weights=amounts, minlength=n_classes * d).reshape(n_classes, d)

    weight = np.repeat(count[:, None], d, axis=1)
    if missing.any():
        weight -= added(np.where(missing, entry_weight, 0.0))
        value, entry_weight = value[~missing], entry_weight[~missing]
        place, entry_class = place[~missing], entry_class[~missing]
    divisor = np.where(weight > 0, weight, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = added(entry_weight * value) / divisor
        gap = value - mean.ravel()[place]
        stored = added(entry_weight)
        scatter = added(entry_weight * gap * gap) + (weight - stored) * np.square(mean)
    return ClassMoments(count, weight, mean, scatter)


def class_sums(source: Source, n_classes: int, threshold: float | None = None) -> ClassSums:
    """The sums of every class over all rows of a source whose targets are codes.

    Sparse rows in memory are one block: cutting them and merging C × d sums would take longer than
    adding their entries.
    """
    if isinstance(source, InMemory) and source.is_sparse:
        return summarise_class_sums(source.whole, n_classes, threshold)
    return source.reduce(summarise_class_sums, n_classes, threshold)


def summarise_class_sums(block: Block, n_classes: int, threshold: float | None = None) -> ClassSums:
    """The sums of every class in one block: of the entries, or of those above a threshold."""
    X, code, weight = to_host(block.X), class_codes(block), kernel_weights(block.weight)
    count = np.bincount(code, weights=block.row_weights, minlength=n_classes)
    sums = np.zeros((n_classes, X.shape[1]))
    reading = (threshold is not None, 0.0 if threshold is None else float(threshold))
    if isinstance(X, np.ndarray):
        lowest = _native.class_sums(X, code, weight, *reading, sums)
    else:
        parts = (X.data, X.indices, X.indptr)
        lowest = _native.class_sums_sparse(*parts, code, weight, *reading, sums)
    return ClassSums(count, sums, lowest)
