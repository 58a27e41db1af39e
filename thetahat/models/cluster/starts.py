"""Starting centres of k-means: rows, far rows (k-means++), random points, random labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, kernel_weights
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.models.cluster.lloyd import Rows
from thetahat.models.cluster.nearest import contiguous, row_squares, squares_between
from thetahat.models.cluster.sums import ClusterSums, cluster_sums

STARTS = ("k-means++", "random", "random_centroids", "random_assignment")
SURE = 1.0 - 1e-9
"""Makes squared distances lower bounds, in spite of rounding."""
TWICE_SQUARED = 4.0
"""A row is at most as far from the middle as a centre may be."""


def starting_centres(rows: Rows, k: int, init: Any, random: np.random.Generator) -> Array:
    """k centres by name, from an array or from a function (X, k, random_state)."""
    if isinstance(init, str):
        return _BY_NAME[init](rows, k, random)
    if callable(init):
        if not isinstance(rows.source, InMemory):
            raise CapabilityError(
                f"{rows.who}: init is a function of X, but these rows are read block by block. "
                f"Use one of {', '.join(map(repr, STARTS))}, or an array."
            )
        seed = np.random.RandomState(int(random.integers(2**31)))
        init = init(rows.source.X, k, random_state=seed)
    return given_centres(init, k, rows)


def given_centres(init: Any, k: int, rows: Rows) -> Array:
    """The centres of an array, checked."""
    try:
        centres = np.array(init, dtype=rows.source.dtype, order="C").astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{rows.who}: init must hold numbers, one row per centre.") from None
    shape = (k, rows.source.n_features)
    if centres.ndim != 2 or len(centres) != k:
        raise DataError(
            f"{rows.who}: The shape of the initial centers {centres.shape} does not match the "
            f"number of clusters {k}. Give an array of shape {shape}."
        )
    if centres.shape != shape:
        raise DataError(
            f"{rows.who}: The shape of the initial centers {centres.shape} does not match the "
            f"number of features of the data {shape[1]}. Give an array of shape {shape}."
        )
    if not np.isfinite(centres).all():
        raise DataError(f"{rows.who}: init holds NaN or infinity. Give finite centres.")
    with np.errstate(over="ignore"):
        square = np.square(centres - rows.middle).sum(axis=1)
        far = ~np.isfinite(TWICE_SQUARED * square)
    if far.any():
        raise DataError(
            f"{rows.who}: init holds centres whose squared distances from the rows overflow (the "
            f"first: centre {int(far.argmax())}, with entries up to "
            f"{np.abs(centres[far.argmax()]).max():.2g}). Give centres near the rows."
        )
    return centres


def random_rows(rows: Rows, k: int, random: np.random.Generator) -> Array:
    """k different rows, drawn in proportion to their weights."""
    return rows.take(random.choice(rows.source.n_rows, size=k, replace=False, p=rows.chance))


def different_rows(
    rows: Rows, k: int, random: np.random.Generator, first: Array | None = None
) -> Array:
    """k rows in random order of which no two are equal, if there are so many; after ``first``."""
    order = random.choice(rows.source.n_rows, size=rows.n_used, replace=False, p=rows.chance)
    drawn = rows.take(order)
    drawn = drawn if first is None else np.concatenate([first, drawn])
    places = np.sort(np.unique(drawn, axis=0, return_index=True)[1])
    given = 0 if first is None else len(first)
    new = places[places >= given][: k - given]
    chosen = np.concatenate([np.arange(given), new, random.integers(len(drawn), size=k)])[:k]
    return drawn[chosen]


def random_points(rows: Rows, k: int, random: np.random.Generator) -> Array:
    """k points, uniform in the range of each column."""
    span = rows.source.reduce(_span)
    points = random.uniform(size=(k, rows.source.n_features))
    return np.asarray(span.low + points * (span.high - span.low))


def random_labels(rows: Rows, k: int, random: np.random.Generator) -> Array:
    """The means of rows with random labels; a label without rows gets a random row."""
    label = random.integers(k, size=rows.source.n_rows, dtype=np.int32)
    origin = np.tile(rows.middle, (k, 1))
    sums = rows.source.reduce(_labelled_sums, origin, label)
    centres = sums.means(origin)
    empty = np.flatnonzero(sums.count == 0)
    if empty.size:
        centres[empty] = random_rows(rows, len(empty), random)
    return centres


def far_rows(rows: Rows, k: int, random: np.random.Generator, first: Array | None = None) -> Array:
    """k-means++: rows drawn by their squared distance from the centres so far."""
    return numbered_far_rows(rows, k, random, first)[0]


def numbered_far_rows(
    rows: Rows,
    k: int,
    random: np.random.Generator,
    first: Array | None = None,
    tries: int | None = None,
) -> tuple[Array, Array]:
    """The centres of k-means++, and the numbers of their rows (−1 for centres in ``first``).

    Of 2 + log k rows (``tries``) drawn in each turn, the one that lowers the loss most is taken.
    The distance between centres rules out most rows without computing their distance. ``first``
    holds centres that are kept; the drawn ones follow them. Cost: O(n d k log k) time
    at most, and 2k passes over rows that are not in memory.
    """
    chance, n = rows.chance, rows.source.n_rows
    tries = 2 + int(math.log(k)) if tries is None else tries
    numbers = np.full(k, -1, dtype=np.int64)
    if first is None or not len(first):
        numbers[0] = random.integers(n) if chance is None else random.choice(n, p=chance)
        first = rows.take(numbers[:1])
    centres, given = np.empty((k, rows.source.n_features)), len(first)
    centres[:given] = first
    search = _FarSearch(rows)
    search.take(centres[:1], np.zeros((1, 1)), 0)
    for number in range(1, given):
        each = centres[number : number + 1]
        search.take(each, 0.25 * squares_between(each, centres[:number]) * SURE, number)
    for number in range(given, k):
        drawn = search.draw(tries, random)
        if drawn is None:  # every row is a centre
            numbers[number:] = random.integers(n, size=k - number)
            centres[number:] = rows.take(numbers[number:])
            break
        candidates = rows.take(drawn)
        reach = 0.25 * squares_between(candidates, centres[:number]) * SURE
        best = int(np.argmin(search.potentials(candidates, reach)))
        centres[number], numbers[number] = candidates[best], drawn[best]
        search.take(candidates[best : best + 1], reach[best : best + 1], number)
    return centres, numbers


_BY_NAME = dict(zip(STARTS, (far_rows, random_rows, random_points, random_labels), strict=True))


@dataclass
class _Total:
    """Numbers to be added."""

    value: Any

    def merge(self, other: _Total) -> _Total:
        return _Total(self.value + other.value)


class _FarSearch:
    """The squared distance of every row from its nearest centre, and the number of that centre."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._state = rows.source.row_state(nearest=np.inf, owner=np.int32(0))

    def draw(self, tries: int, random: np.random.Generator) -> Array | None:
        """Rows in proportion to their squared distances; None if all are 0."""
        return self._state.draw("nearest", self.rows.chance, tries, random)

    def potentials(self, candidates: Array, reach: Array) -> Array:
        """The loss with each of the candidates as a further centre."""
        return np.asarray(self._state.look(_potentials_of_block, candidates, reach).value)

    def take(self, candidate: Array, reach: Array, number: int) -> None:
        """Make the candidate a centre."""
        self._state.reduce(_take_in_block, candidate, reach, number)


def _potentials_of_block(
    block: Block, rows: dict[str, Array], candidates: Array, reach: Array
) -> _Total:
    if not isinstance(block.X, np.ndarray):
        squares = squares_between(block.X, candidates)
        least = np.minimum(squares, rows["nearest"][:, None])
        return _Total(block.row_weights @ least)
    weight = kernel_weights(block.weight)
    total = np.zeros(len(candidates))
    _native.potentials(
        contiguous(block.X), weight, rows["nearest"], rows["owner"], candidates, reach, total
    )
    return _Total(total)


def _take_in_block(
    block: Block, rows: dict[str, Array], candidate: Array, reach: Array, number: int
) -> _Total:
    nearest, owner = rows["nearest"], rows["owner"]
    if isinstance(block.X, np.ndarray):
        _native.take_candidate(contiguous(block.X), nearest, owner, candidate, reach, number)
    else:
        square = squares_between(block.X, candidate)[:, 0]
        # Differences at the level of rounding mean equal rows.
        square[square <= 1e-14 * row_squares(block.X)] = 0.0
        np.copyto(owner, number, where=square < nearest)
        np.minimum(nearest, square, out=nearest)
    return _Total(0)


@dataclass
class _Span:
    """The smallest and the largest value of each column."""

    low: Array
    high: Array

    def merge(self, other: _Span) -> _Span:
        return _Span(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def _span(block: Block) -> _Span:
    dense = dense_rows(block)
    dense = dense if block.weight is None else dense[block.weight > 0]
    low = dense.min(axis=0, initial=np.inf).astype(np.float64)
    return _Span(low, dense.max(axis=0, initial=-np.inf).astype(np.float64))


def _labelled_sums(block: Block, origin: Array, label: Array) -> ClusterSums:
    part = label[block.start : block.start + block.n_rows]
    return cluster_sums(block, origin, part, np.zeros(block.n_rows))
