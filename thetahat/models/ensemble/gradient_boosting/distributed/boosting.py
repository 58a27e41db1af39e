"""Boosting of rows that stay on the workers of a Dask cluster.

The workers keep their rows as codes of one byte per value, their raw predictions and gradients. For
each level of a tree they send histograms of the open leaves, merged in a tree of fixed shape; this
process chooses the splits and sends them back. Histograms are sums of integers, so the splits do
not depend on the partitions, except through the rounding of the sums from which the scale of the
integers follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.bins import Bins
from thetahat.data.distributed.cluster import computed, kept
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.distributed.partition import packed
from thetahat.data.distributed.pieces import dask
from thetahat.data.distributed.streamed_partitions import partitions_of
from thetahat.data.distributed.tree import tree as merge_tree
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.distributed import partition
from thetahat.models.ensemble.gradient_boosting.distributed.leaf_search import searched_values
from thetahat.models.ensemble.gradient_boosting.distributed.partition import (
    Chosen,
    GradientTotals,
    LeafTotals,
)
from thetahat.models.ensemble.gradient_boosting.gradient_trees import (
    TreeRules,
    with_leaf_values,
)
from thetahat.models.ensemble.gradient_boosting.leaf_values import takes_newton_steps
from thetahat.models.ensemble.gradient_boosting.members import Member
from thetahat.models.ensemble.gradient_boosting.rounds import (
    Boosting,
    Rows,
    Scorer,
    diverged,
    has_unit_curvature,
)
from thetahat.models.ensemble.gradient_boosting.tree_rounds import in_monotone_ranges
from thetahat.models.tree.structure import Tree

MOST_ROWS = 1 << 30
"""Rows whose integers can be added without overflow."""


def on_workers(rows: Rows) -> bool:
    """Whether the rows are partitions on the workers of a cluster."""
    return partitions_of(rows.X) is not None


@dataclass
class Workers:
    """The states of all partitions, which stay on the workers."""

    coded: Sequence[Any]
    raw: Sequence[Any]
    raw_of_held: Sequence[Any] = ()
    """Raw predictions of held-out rows; empty if there are none."""
    before: Sequence[Any] = ()
    """Raw predictions before the iteration."""
    slopes: Sequence[Any] = ()
    growing: Sequence[Any] = ()

    @classmethod
    def begin(
        cls,
        rows: Rows,
        held: Rows | None,
        bins: Bins,
        constant: Array,
        members: Sequence[Member],
        own_targets: bool,
    ) -> Workers:
        """Code the rows. `own_targets`: targets and weights are those of the partitions."""
        source, read = partitions_of(rows.X), rows.X.read
        assert source is not None
        fitted = _chosen(rows, source, own_targets)
        others = [None] * len(fitted) if held is None else _chosen(held, source, own_targets)
        firsts = np.cumsum([0, *_counts(rows, source)])[:-1].tolist()
        work = packed(_nothing, (bins, read))
        coded = kept(source.tasks(partition.coded_part, work, fitted, others, firsts))
        begin = packed(_nothing, (constant, tuple(members), read))

        def scores(chosen: Sequence[Any], of_held: bool) -> Sequence[Any]:
            which = [of_held] * len(coded)
            return source.tasks(partition.first_scores, begin, chosen, coded, which)

        return cls(coded, scores(fitted, False), () if held is None else scores(others, True))

    def begin_round(self, *settings: Any) -> GradientTotals:
        """Compute the derivatives; give the sums over all rows."""
        pairs = self._tasks(partition.begun_round, settings, self.raw)
        n = len(self.coded)
        found = kept([*self.raw, *self.raw_of_held, *_firsts(pairs), _merged(pairs)])
        self.raw, self.raw_of_held = found[:n], found[n : -n - 1]
        self.before = self.raw
        self.slopes = found[-n - 1 : -1]
        totals: GradientTotals = computed(found[-1:])[0]
        return totals

    def begin_tree(self, *settings: Any) -> LeafTotals:
        """Begin a tree; give the sums of its root."""
        return self._grow(partition.begun_tree, settings, self.slopes)

    def divide(self, *settings: Any) -> LeafTotals:
        """Divide leaves; give the sums of their children."""
        return self._grow(partition.divided, settings, self.slopes, self.growing)

    def searching(self, places: Array) -> Callable[..., Any]:
        """Passes over the rows of the leaves at these places, which the workers prepare once."""
        prepared: dict[Any, Sequence[Any]] = {}

        def ask(prepare: Callable[..., Any], work: Callable[..., Any], *settings: Any) -> Any:
            if prepare not in prepared:
                prepared[prepare] = kept(
                    self._tasks(prepare, (places.tolist(),), self.before, self.growing)
                )
            return computed([merge_tree(self._tasks(work, settings, prepared[prepare]))])[0]

        return ask

    def end_tree(self, tree: Tree, values: Array, column: int) -> None:
        """Add a tree to the raw predictions, with the next pass."""
        self.raw = self._tasks(partition.ended_tree, (values, column), self.raw, self.growing)
        if self.raw_of_held:
            self.raw_of_held = self._tasks(partition.with_tree, (tree, column), self.raw_of_held)
        self.growing = ()

    def mean_loss(self, loss: Any, *, held: bool) -> float:
        """The mean loss of the fitted or the held-out rows."""
        raw = kept(self.raw_of_held if held else self.raw)
        self.raw, self.raw_of_held = (self.raw, raw) if held else (raw, self.raw_of_held)
        (total,) = computed([merge_tree(self._tasks(partition.loss_totals, (loss, held), raw))])
        return float(total.loss / total.weight)

    def _grow(self, function: Callable[..., Any], settings: Any, *states: Any) -> LeafTotals:
        pairs = self._tasks(function, settings, *states)
        *self.growing, whole = kept([*_firsts(pairs), _merged(pairs)])
        totals: LeafTotals = computed([whole])[0]
        return totals

    def _tasks(self, function: Callable[..., Any], settings: Any, *states: Any) -> list[Any]:
        each = dask("delayed").delayed(function, pure=False)
        work = packed(_nothing, tuple(settings))
        return [each(*args, work) for args in zip(self.coded, *states, strict=True)]


def _nothing() -> None:
    """Stands for the function where only its arguments are sent."""


def _firsts(pairs: Sequence[Any]) -> list[Any]:
    return [pair[0] for pair in pairs]


def _merged(pairs: Sequence[Any]) -> Any:
    return merge_tree([pair[1] for pair in pairs])


@dataclass(kw_only=True)
class DistributedBoosting(Boosting):
    """State of a fit whose rows and raw predictions are on the workers."""

    workers: Workers
    bins: Bins
    rules: TreeRules
    learn: Any = None
    raw: Array = field(init=False)

    def __post_init__(self) -> None:
        self.raw = np.empty((0, self.plan.n_columns))
        self.loss = self.plan.loss
        if len(self.rows.y) >= MOST_ROWS:
            raise CapabilityError(
                f"Boosting takes fewer than {MOST_ROWS} rows of a Dask collection, but there are "
                f"{len(self.rows.y)}. Fit a sample of the rows: X.partitions[:k]."
            )

    def step(self) -> Sequence[Member]:
        """Make one iteration; return the new trees, which are also kept."""
        random = self.plan.in_round(self.n_rounds)
        totals = self.workers.begin_round(self.loss, self.plan.leaf_update)
        made = [
            self._grown(column, sums, int(random.integers(1 << 32)))
            for column, sums in enumerate(totals.columns)
        ]
        self.members.extend(made)
        return made

    def mean_loss(self) -> float:
        return self.workers.mean_loss(self.loss, held=False)

    def scores(self, train: Scorer | None, held: Scorer, raw: Array | None) -> dict[str, float]:
        found = {"train": -self.mean_loss()}
        if self.workers.raw_of_held:
            found["validation"] = -self.workers.mean_loss(self.loss, held=True)
        elif raw is not None:
            found["validation"] = held(raw)
        return found

    def _grown(self, column: int, sums: Any, seed: int) -> Tree:
        if not np.isfinite(sums[:3]).all():
            raise diverged(self.loss, self.n_rounds)
        counts = has_unit_curvature(self.loss, self.plan.leaf_update)
        scales = _native.gradient_scales(sums, len(self.rows.y), counts)
        with_weights = not counts and not self.rules.rows_by_curvature
        root = self.workers.begin_tree(column, scales, seed, with_weights)

        def divide(*leaves: Array) -> tuple[Array, Array, Array]:
            found = self.workers.divide(column, *leaves, with_weights)
            return found.facts, found.words, found.weights

        arrays, nodes = _native.grow_from_histograms(
            *self.bins.flat_cuts,
            *self.bins.flat_categories,
            root.facts,
            root.words,
            root.weights,
            scales,
            *self.rules.arguments(self.bins.n_features),
            seed,
            divide,
        )
        tree = Tree(*arrays, n_features=self.bins.n_features)
        if not takes_newton_steps(self.loss, self.plan.leaf_update):
            tree = self._with_searched_values(tree, nodes, column)
        with np.errstate(over="ignore"):  # found by its result
            tree.values[:] *= self.plan.learning_rate
        self.workers.end_tree(tree, tree.values[nodes, 0], column)
        return tree

    def _with_searched_values(self, tree: Tree, nodes: Array, column: int) -> Tree:
        """The tree with the best constant at each leaf; `nodes` are those of all places."""
        # The places below a leaf, whose split was not used, come after its own.
        leaves, places = np.unique(nodes, return_index=True)
        leaves, places = (each[tree.feature[leaves] < 0] for each in (leaves, places))
        ask, n_parts = self.workers.searching(places), len(self.workers.coded)
        found = searched_values(ask, len(places), n_parts, self.loss, column)
        found = in_monotone_ranges(tree, leaves, found, self.rules.monotonic)
        return with_leaf_values(tree, leaves, found)


def _numbers(rows: Rows) -> Array | None:
    numbers: Array | None = rows.X.numbers
    return numbers


def _bounds(rows: Rows, source: DaskSource) -> Array:
    """Where the chosen rows of each partition begin among all chosen rows, and their end."""
    ends = [*source.starts, source.n_rows]
    numbers = _numbers(rows)
    return np.array(ends) if numbers is None else np.searchsorted(numbers, ends)


def _counts(rows: Rows, source: DaskSource) -> Array:
    return np.diff(_bounds(rows, source))


def _chosen(rows: Rows, source: DaskSource, own_targets: bool) -> list[Any]:
    """The rows of each partition, as objects that are sent once."""
    bounds, numbers = _bounds(rows, source), _numbers(rows)
    small = rows.y if own_targets else _small(rows.y)
    found = []
    for place, (start, size) in enumerate(zip(source.starts, source.sizes, strict=True)):
        some = slice(bounds[place], bounds[place + 1])
        mask = None
        if numbers is not None:
            marks = np.zeros(size, dtype=bool)
            marks[numbers[some] - start] = True
            mask = np.packbits(marks)
        weighted = rows.weight is not None
        weight = rows.weight[some] if rows.weight is not None and not own_targets else None
        chosen = Chosen(mask, None if own_targets else small[some], weight, weighted)
        found.append(dask("delayed").delayed(chosen, traverse=False))
    return found


def _small(y: Array) -> Array:
    """Whole numbers of one byte each where all are."""
    codes = y.astype(np.int8)
    return codes if (codes == y).all() else y
