"""The work of one worker in boosting: codes, gradients and histograms of its partition.

All functions are pure: they make new states from old ones, so that what is lost with a worker is
computed again by another one, and has the same bits. Rows are read in their order by one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.bins import Bins
from thetahat.data.distributed.partition import unpacked
from thetahat.data.in_memory import InMemory
from thetahat.data.row_pieces import BinnedRows
from thetahat.data.source import weights_of
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_NUMBERS
from thetahat.models.ensemble.gradient_boosting.members import together
from thetahat.models.ensemble.gradient_boosting.rounds import derivatives, scores_of


@dataclass(frozen=True)
class Chosen:
    """Rows of a partition, and their targets and weights where these are not its own."""

    mask: Array | None
    """Bits that mark the rows; None chooses all."""
    y: Array | None
    weight: Array | None
    weighted: bool
    """Whether rows have weights; if so, their own where `weight` is None."""

    def rows(self, n_rows: int) -> Any:
        """What selects the rows of an array."""
        if self.mask is None:
            return slice(None)
        return np.flatnonzero(np.unpackbits(self.mask, count=n_rows))


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, with targets in the form of the loss."""

    codes: Array
    """(n, at least d) (uint8)."""
    y: Array
    weight: Array | None

    @property
    def row_weights(self) -> Array:
        return NO_NUMBERS if self.weight is None else self.weight


@dataclass(frozen=True)
class CodedPart:
    """A partition: the rows to which trees are fitted, and held-out rows."""

    fitted: CodedRows
    held: CodedRows | None
    bins: Bins
    first: int
    """The number of the first fitted row among those of all partitions."""

    @property
    def stride(self) -> int:
        """Number of sums of each column in a histogram."""
        return 1 + int(self.bins.n_bins.max())

    def of(self, held: bool) -> CodedRows:
        rows = self.held if held else self.fitted
        assert rows is not None
        return rows


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the loss, one row of numbers per column of raw predictions."""

    slope: Array
    curvature: Array | None

    def of(self, column: int) -> tuple[Array, Array]:
        curved = self.curvature
        return self.slope[column], NO_NUMBERS if curved is None else curved[column]


@dataclass(frozen=True)
class Growing:
    """Where the rows are in a growing tree; the rows of place p are order[begin[p]:end[p]]."""

    words: Array
    order: Array
    begin: tuple[int, ...]
    end: tuple[int, ...]
    inner: frozenset[int] = frozenset()
    """Places that have been divided."""

    def rows(self, place: int) -> Array:
        return self.order[self.begin[place] : self.end[place]]


@dataclass(frozen=True)
class GradientTotals:
    """Sums from which the scales of the integers follow, for each column of raw predictions."""

    columns: tuple[tuple[float, float, float, float, bool], ...]

    def merge(self, other: GradientTotals) -> GradientTotals:
        return GradientTotals(
            tuple(
                (a[0] + b[0], a[1] + b[1], a[2] + b[2], max(a[3], b[3]), a[4] and b[4])
                for a, b in zip(self.columns, other.columns, strict=True)
            )
        )


@dataclass(frozen=True)
class LeafTotals:
    """Sums and histograms of some leaves."""

    facts: Array
    """Σ w·g, Σ w·h, Σ w, Σ w·g², Σ w² and the number of rows, in the last axis."""
    words: Array
    weights: Array

    def merge(self, other: LeafTotals) -> LeafTotals:
        return LeafTotals(
            self.facts + other.facts, self.words + other.words, self.weights + other.weights
        )


@dataclass(frozen=True)
class LossTotals:
    """Σ w·ℓ and Σ w."""

    loss: float
    weight: float

    def merge(self, other: LossTotals) -> LossTotals:
        return LossTotals(self.loss + other.loss, self.weight + other.weight)


def coded_part(
    part: InMemory, start: int, work: bytes, fitted: Chosen, held: Chosen | None, first: int
) -> CodedPart:
    """The codes of a partition, one byte per value."""
    _, (bins, read) = unpacked(work)

    def coded(chosen: Chosen) -> CodedRows:
        rows = chosen.rows(part.n_rows)
        y = part.whole.targets[rows] if chosen.y is None else chosen.y
        weight = chosen.weight
        if weight is None and chosen.weighted:
            weight = part.row_weights[rows]
        codes = bins.codes(read(part.X[rows]), by_column=False).by_row
        return CodedRows(codes, np.asarray(y, dtype=np.float64), weight)

    return CodedPart(coded(fitted), None if held is None else coded(held), bins, first)


def first_scores(
    part: InMemory, start: int, work: bytes, chosen: Chosen, coded: CodedPart, held: bool
) -> Array:
    """The raw predictions of the members so far."""
    _, (constant, members, read) = unpacked(work)
    raw = np.empty((len(coded.of(held).y), len(constant)))
    raw[:] = constant
    if members and len(raw):  # these may have other cut points
        together(members).sum(read(part.X[chosen.rows(part.n_rows)]), raw, raw.shape[1])
    return raw


def begun_round(coded: CodedPart, raw: Array, work: bytes) -> tuple[Slopes, GradientTotals]:
    """The derivatives of the loss at the raw predictions."""
    _, (loss, leaf_update) = unpacked(work)
    rows, n_columns = coded.fitted, raw.shape[1]
    slope, curvature = derivatives(loss, leaf_update, rows.y, raw)
    if curvature is not None and n_columns > 1:
        curvature = curvature * (n_columns / (n_columns - 1))
    slopes = Slopes(
        np.ascontiguousarray(slope.T),
        None if curvature is None else np.ascontiguousarray(curvature.T),
    )
    sums = (
        _native.gradient_sums(*slopes.of(column), rows.row_weights) for column in range(n_columns)
    )
    return slopes, GradientTotals(tuple(sums))


def begun_tree(coded: CodedPart, slopes: Slopes, work: bytes) -> tuple[Growing, LeafTotals]:
    """Integers of the gradients, and the histogram of the root."""
    _, (column, scales, seed, with_weights) = unpacked(work)
    rows = coded.fitted
    n = len(rows.y)
    words = _native.gradient_words(*slopes.of(column), rows.row_weights, scales, coded.first, seed)
    growing = Growing(words, np.arange(n, dtype=np.uint32), (0,), (n,))
    facts = _facts(coded, slopes, column, growing.order)
    return growing, LeafTotals(facts, *_histograms(coded, growing, [growing.order], with_weights))


def divided(
    coded: CodedPart, slopes: Slopes, growing: Growing, work: bytes
) -> tuple[Growing, LeafTotals]:
    """Some leaves divided, and the sums and histograms of their children."""
    _, (column, places, features, goes_left, sides, with_weights) = unpacked(work)
    order = growing.order.copy()
    begin, end = list(growing.begin), list(growing.end)
    facts, counted = [], []
    for place, feature, table, side in zip(places, features, goes_left, sides, strict=True):
        rows = growing.rows(place)
        left = table[coded.fitted.codes[rows, feature]].astype(bool)
        children = rows[left], rows[~left]
        middle = growing.begin[place] + len(children[0])
        order[growing.begin[place] : middle], order[middle : growing.end[place]] = children
        begin += [growing.begin[place], middle]
        end += [middle, growing.end[place]]
        facts.append([_facts(coded, slopes, column, each) for each in children])
        if side:
            counted.append(children[side - 1])
    made = replace(
        growing,
        order=order,
        begin=tuple(begin),
        end=tuple(end),
        inner=growing.inner | {int(place) for place in places},
    )
    return made, LeafTotals(np.array(facts), *_histograms(coded, growing, counted, with_weights))


def _facts(coded: CodedPart, slopes: Slopes, column: int, rows: Array) -> Array:
    slope, curvature = slopes.of(column)
    g, h = slope[rows], curvature[rows] if curvature.size else np.ones(len(rows))
    w = weights_of(coded.fitted.weight, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # found by its result
        pull = w * g
        sums = pull.sum(), (w * h).sum(), w.sum(), (pull * g).sum(), (w * w).sum()
    return np.array([*sums, len(rows)], dtype=np.float64)


def _histograms(
    coded: CodedPart, growing: Growing, leaves: Sequence[Array], with_weights: bool
) -> tuple[Array, Array]:
    bounds = np.cumsum([0, *map(len, leaves)], dtype=np.int64)
    return _native.leaf_histograms(
        coded.fitted.codes,
        coded.bins.n_features,
        coded.stride,
        np.concatenate([np.empty(0, dtype=np.uint32), *leaves]),
        bounds,
        growing.words,
        coded.fitted.row_weights,
        with_weights,
    )


def ended_tree(coded: CodedPart, raw: Array, growing: Growing, work: bytes) -> Array:
    """The raw predictions with those of the new tree; its values are given by place."""
    _, (values, column) = unpacked(work)
    added = raw.copy()
    for place in range(len(growing.begin)):
        if place not in growing.inner:
            added[growing.rows(place), column] += values[place]
    return added


def with_tree(coded: CodedPart, raw: Array, work: bytes) -> Array:
    """The same for held-out rows, which are in no leaf."""
    _, (tree, column) = unpacked(work)
    rows = coded.of(held=True)
    added = raw.copy()
    if len(added):
        added[:, column] += tree.packed.sum(BinnedRows(rows.codes, coded.bins))[:, 0]
    return added


def loss_totals(coded: CodedPart, raw: Array, work: bytes) -> LossTotals:
    """The loss of the fitted or of the held-out rows."""
    _, (loss, held) = unpacked(work)
    rows = coded.of(held)
    with np.errstate(over="ignore"):
        values = loss.value(rows.y, scores_of(loss, raw))
    if rows.weight is None:
        return LossTotals(float(values.sum()), float(len(values)))
    return LossTotals(float((rows.weight * values).sum()), float(rows.weight.sum()))
