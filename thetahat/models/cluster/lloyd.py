"""k-means as coordinate descent: L(μ, z) = Σ w‖x − μ_z‖², in turns over labels and centres."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.cluster.nearest import Centres, Frame, contiguous, find_nearest
from thetahat.models.cluster.sums import ClusterSums, cluster_sums


class Rows:
    """The rows of a fit: where their middle is, how far they spread, and their weights."""

    def __init__(self, source: Source, who: str) -> None:
        self.source, self.who = source, who
        first = dense_rows(source.head(1))
        origin = np.ascontiguousarray(first, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            about = source.reduce(_sums_about, origin)
            self.total = float(about.weight[0])
            shift = about.sums[0] / self.total
            away = float(shift @ shift)
            self.middle = origin[0] + shift
            # Mean over the columns of their variance.
            self.variance = max(0.0, about.loss / self.total - away) / source.n_features
        if not 1e-250 < about.loss < 1e250:
            require_squares_of_rows(source, who=who)
        self.frame = Frame.around(self.middle, (math.sqrt(about.largest) + math.sqrt(away)) ** 2)
        self.n_used = int(about.count[0])

    def partition(self) -> Partition:
        """The problem of one start of k-means."""
        return Partition(self)

    @cached_property
    def weight(self) -> Array | None:
        """The weight of every row; None if all are 1."""
        if not self.source.has_weight:
            return None
        return self.source.map_rows(lambda block: block.row_weights.astype(float))

    @cached_property
    def chance(self) -> Array | None:
        """The probability of every row in a draw by weight; None if all are equal."""
        weight = self.weight
        if weight is None or weight.min() == weight.max():
            return None
        return weight / weight.sum()

    def sample(self, size: int, random: np.random.Generator) -> Rows:
        """Some random rows, in memory, drawn by their weights; all rows if there are few."""
        n, chance = self.source.n_rows, self.chance
        if size >= n:
            return self
        if chance is not None and size >= self.n_used:
            numbers = np.flatnonzero(chance)
            block = chosen_rows(self.source, numbers)
        else:  # the weights are in the draw
            numbers = np.sort(random.choice(n, size, replace=False, p=chance))
            block = replace(chosen_rows(self.source, numbers), weight=None)
        source = InMemory(
            X=block.X,
            weight=block.weight,
            n_features=block.X.shape[1],
            dtype=self.source.dtype,
            has_weight=block.weight is not None,
        )
        return Rows(source, self.who)

    def take(self, numbers: Array) -> Array:
        """Some of the rows, dense."""
        return np.ascontiguousarray(dense_rows(chosen_rows(self.source, numbers)), dtype=np.float64)


def _sums_about(block: Block, origin: Array) -> ClusterSums:
    n = block.n_rows
    label, square = np.zeros(n, dtype=np.int32), np.zeros(n)
    find_nearest(
        contiguous(block.X),
        Centres(origin, Frame(origin[0], 1.0)),
        label,
        square,
        np.full(n, -np.inf),
    )
    found = cluster_sums(block, origin, label, square)
    found.largest = float(square.max(initial=0.0))
    return found


class Partition:
    """The problem of one start: assigns the rows to centres, and moves centres to their means.

    ``known`` holds the cluster of every row where it is known, and −1 where it is not.
    """

    convex = False

    def __init__(self, rows: Rows, known: Array | None = None) -> None:
        self.rows, self.known = rows, known
        self._state = rows.source.row_state(label=np.int32(0), square=0.0, lower=-np.inf)
        self.centres: Array | None = None
        self.shift = math.inf
        """Sum of the squared moves of the centres in the last step."""

    @property
    def label(self) -> Array:
        """The number of the nearest centre of every row."""
        return self._state.values("label")

    @property
    def square(self) -> Array:
        """The squared distance of every row from its nearest centre."""
        return self._state.values("square")

    def assign(self, centres: Array) -> ClusterSums:
        """Give every row its nearest centre; the sums for these labels. Cost: O(n d) to O(n k d).

        Bounds from the centres before save most distances.
        """
        move = None
        if self.centres is not None:
            moved = centres - self.centres
            squares = np.einsum("ij,ij->i", moved, moved)
            self.shift = float(squares.sum())
            move = np.sqrt(squares) * (1.0 + 1e-12)
        found = Centres(centres, self.rows.frame, move, self.rows.source.n_rows)
        self.centres = found.values
        return self._state.reduce(_assign_block, found, self.known)

    def update(self, centres: Array, sums: ClusterSums) -> Array:
        """Move the centres to the means of their rows, in the precision of the rows.

        The centre of an empty cluster moves to the row farthest from its own centre, which leaves
        the cluster that it belonged to; several go to the farthest rows in order. The loss falls.
        """
        found = sums.means(centres)
        if self.known is None and not sums.count.all():
            self._fill(found, centres, sums, np.flatnonzero(sums.count == 0))
        return found.astype(self.rows.source.dtype).astype(np.float64)

    def _fill(self, found: Array, centres: Array, sums: ClusterSums, empty: Array) -> None:
        weight, label, square = self.rows.weight, self.label, self.square
        square = square if weight is None else np.where(weight > 0, square, 0.0)
        most = min(len(square), len(empty) + len(centres))
        farthest = np.argpartition(-square, most - 1)[:most]
        left, chosen = sums.count.copy(), list[int]()
        for row in farthest[np.lexsort((farthest, -square[farthest]))]:
            own = label[row]
            if len(chosen) == len(empty) or not square[row] > 0:
                break
            if left[own] > 1:
                left[own] -= 1
                chosen.append(int(row))
        if not chosen:
            return
        places = self.rows.take(np.array(chosen))
        for cluster, row, place in zip(empty, chosen, places, strict=False):
            own, w = label[row], 1.0 if weight is None else weight[row]
            sums.sums[own] -= w * (place - centres[own])
            sums.weight[own] -= w
            found[own] = centres[own] + sums.sums[own] / sums.weight[own]
            found[cluster] = place


def _assign_block(
    block: Block, rows: dict[str, Array], centres: Centres, known: Array | None
) -> ClusterSums:
    label, square = rows["label"], rows["square"]
    changed = find_nearest(contiguous(block.X), centres, label, square, rows["lower"])
    if known is not None:
        known = known[block.start : block.start + block.n_rows]
        label, square = _with_known(block, centres.values, known, label, square)
    return cluster_sums(block, centres.values, label, square, changed)


def _with_known(
    block: Block, centres: Array, known: Array, label: Array, square: Array
) -> tuple[Array, Array]:
    """Labels and squared distances with the known clusters in their places."""
    some = np.flatnonzero(known >= 0)
    label, square = label.copy(), square.copy()
    label[some] = known[some]
    away = dense_rows(block)[some] - centres[label[some]]
    square[some] = np.einsum("ij,ij->i", away, away)
    return label, square


@dataclass(frozen=True)
class Lloyd(Method):
    """Steps of k-means: centres to the means of their rows, rows to their nearest centre."""

    name = "lloyd"
    needs = ("assign", "update")
    gap_kind = "sum of the squared moves of the centres"

    def start(self, problem: Any, theta: Array) -> State:
        sums = problem.assign(theta)
        return State(theta, sums.loss, math.inf, {"sums": sums})

    def advance(self, problem: Any, state: State) -> State:
        theta = problem.update(state.theta, state.memory["sums"])
        sums = problem.assign(theta)
        return State(theta, sums.loss, problem.shift if sums.changed else 0.0, {"sums": sums})
