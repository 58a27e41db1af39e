"""The work of one worker for leaf values that are searched: sums and residuals of its leaves.

As in `partition`, all functions are pure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.distributed.partition import unpacked
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.distributed.partition import CodedPart, Growing
from thetahat.models.ensemble.gradient_boosting.leaf_values import leaf_slopes


@dataclass(frozen=True)
class LeafRows:
    """The rows of a grown tree, leaf by leaf."""

    y: Array
    raw: Array
    """Raw predictions before the iteration, (n, n_columns)."""
    weight: Array | None
    of_rows: Array
    """Number of the leaf of each row."""


@dataclass(frozen=True)
class Residuals:
    """The distinct residuals y − z of each leaf, ascending, and their weights."""

    leaves: tuple[tuple[Array, Array], ...]


@dataclass(frozen=True)
class Sums:
    """Sums over rows, for each leaf."""

    values: Array

    def merge(self, other: Sums) -> Sums:
        return Sums(self.values + other.values)


@dataclass(frozen=True)
class Groups:
    """The residuals of each leaf within bounds, in groups of neighbours of one partition."""

    below: Array
    """Weight of the residuals below the bounds."""
    above: Array
    """The smallest residual above the bounds."""
    groups: tuple[Array, ...]
    """Smallest and largest residual and weight of each group, as three rows, for each leaf."""

    def merge(self, other: Groups) -> Groups:
        pairs = zip(self.groups, other.groups, strict=True)
        return Groups(
            self.below + other.below,
            np.minimum(self.above, other.above),
            tuple(np.concatenate(pair, axis=1) for pair in pairs),
        )


def leaf_rows(coded: CodedPart, before: Array, growing: Growing, work: bytes) -> LeafRows:
    """The rows of the leaves at the given places."""
    _, (places,) = unpacked(work)
    each = [growing.rows(place) for place in places]
    order, rows = np.concatenate(each), coded.fitted
    of_rows = np.repeat(np.arange(len(each)), [len(one) for one in each])
    weight = None if rows.weight is None else rows.weight[order]
    return LeafRows(rows.y[order], before[order], weight, of_rows)


def weight_sums(coded: CodedPart, rows: LeafRows, work: bytes) -> Sums:
    """Σ w of each leaf."""
    _, (n_leaves,) = unpacked(work)
    return Sums(np.bincount(rows.of_rows, weights=rows.weight, minlength=n_leaves).astype(float))


def slope_sums(coded: CodedPart, rows: LeafRows, work: bytes) -> Sums:
    """Σ w·ℓ′(y, z + c) of each leaf, with the constant c of the leaf."""
    _, (loss, column, constants) = unpacked(work)
    return Sums(leaf_slopes(loss, rows.y, rows.raw, column, rows.weight, rows.of_rows, constants))


def residuals(coded: CodedPart, before: Array, growing: Growing, work: bytes) -> Residuals:
    """The residuals of the leaves at the given places, sorted once for all passes."""
    _, (places,) = unpacked(work)
    rows = coded.fitted
    found: list[tuple[Array, Array]] = []
    for place in places:
        own = growing.rows(place)
        apart = rows.y[own] - before[own, 0]
        if rows.weight is None:
            values, counts = np.unique(apart, return_counts=True)
            found.append((values, counts.astype(np.float64)))
        else:
            values, which = np.unique(apart, return_inverse=True)
            found.append((values, np.bincount(which, weights=rows.weight[own])))
    return Residuals(tuple(found))


def grouped(coded: CodedPart, sorted_: Residuals, work: bytes) -> Groups:
    """The residuals between `low` and `high` of each leaf, in at most `size` groups."""
    _, (low, high, size) = unpacked(work)
    below, above = np.zeros(len(low)), np.full(len(low), np.inf)
    groups = []
    for leaf, (values, weights) in enumerate(sorted_.leaves):
        first = int(np.searchsorted(values, low[leaf], side="left"))
        last = int(np.searchsorted(values, high[leaf], side="right"))
        below[leaf] = weights[:first].sum()
        if last < len(values):
            above[leaf] = values[last]
        count = last - first
        if not count:
            groups.append(np.empty((3, 0)))
            continue
        k = min(size, count)
        ends = first + np.arange(k + 1) * count // k
        sums = np.add.reduceat(weights[:last], ends[:-1])
        groups.append(np.stack([values[ends[:-1]], values[ends[1:] - 1], sums]))
    return Groups(below, above, tuple(groups))


def huber_sums(coded: CodedPart, sorted_: Residuals, work: bytes) -> Sums:
    """Σ w·clip(r − c, ±δ) and Σ w over |r − c| ≤ δ of each leaf, with its constant c."""
    _, (constants, delta) = unpacked(work)
    found = np.zeros((2, len(constants)))
    for leaf, (values, weights) in enumerate(sorted_.leaves):
        apart = values - constants[leaf]
        found[0, leaf] = weights @ np.clip(apart, -delta, delta)
        found[1, leaf] = weights[np.abs(apart) <= delta].sum()
    return Sums(found)
