"""Growing a forest in batches of trees, with checks for time and interrupts between batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.source import kernel_weights
from thetahat.data.validation import is_sparse
from thetahat.foundation.memory import shortage_explained
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.ensemble.forest.on_workers import WorkerColumns
from thetahat.models.tree.growth.growing import UNBOUNDED, grow_tree, sorted_columns
from thetahat.models.tree.growth.grown_forest import OF_CLASSES, GrownForest, renumbered
from thetahat.models.tree.packed import NODE
from thetahat.models.tree.pruning import weakest_links

BATCH_SECONDS = 0.25
"""Approximate time per batch; between batches, time limits and Ctrl-C are checked."""
BATCH_SECONDS_ON_WORKERS = 2.0
"""The same where workers grow the trees, which takes some messages per batch."""

CODE_BYTES = 8
"""Memory of a number as a code or value, and its share of the table from codes to values."""
ROW_BYTES = 100
"""Memory for each row of a tree while it grows: weights, sums, row numbers, nodes."""


@dataclass(frozen=True)
class RowDraws:
    """Draws the rows of a tree as a function of its seed."""

    n_rows: int
    draws: int
    """Number of rows drawn for a tree; 0 uses every row once."""
    weight: Array | None
    """Probabilities of the rows, up to a factor; None for equal probabilities."""
    replacement: bool = True
    """Whether a row can be drawn several times. If not, rows of positive weight are drawn with
    equal probabilities and keep their weights."""

    def counts(self, seed: int) -> Array:
        """Number of times each row is drawn (uint32)."""
        counts = np.ones(self.n_rows, dtype=np.uint32)
        if self.draws:
            weight = kernel_weights(self.weight)
            _native.drawn_counts(seed, self.draws, weight, counts, self.replacement)
        return counts

    def weights(self, seed: int) -> Array | None:
        """Weights of the rows in the tree of this seed; None where all are 1."""
        if not self.draws:
            return self.weight
        counts = self.counts(seed).astype(np.float64)
        return counts if self.replacement or self.weight is None else counts * self.weight


@dataclass(frozen=True)
class ForestPlan:
    """Settings and data common to all trees of a forest."""

    X: Array
    """Rows as floats, with NaN for missing values."""
    columns: _native.ForestColumns | WorkerColumns | None
    """The same as codes, or as columns of values; None for absolute errors, which use sorted
    columns."""
    categorical: Array
    y: Array
    """(n, outputs): numbers, or codes of classes (float64)."""
    weight: Array | None
    criterion: str
    n_classes: tuple[int, ...]
    """Classes per output; 1 for regression."""
    rows: RowDraws
    balanced: bool
    """Whether the classes get equal total weight among the rows of each tree."""
    max_features: int
    features_per_tree: int
    max_candidates: int
    exact_rows: int
    """Nodes of up to this many rows are split exactly; in larger ones, values are grouped."""
    random_thresholds: bool
    max_depth: int | None
    max_leaves: int | None
    min_split: int
    min_leaf: int
    min_weight_share: float
    min_decrease: float
    monotone: Array | None
    ccp_alpha: float
    threads: int

    def empty(self) -> GrownForest:
        """The forest before its first tree."""
        return GrownForest.empty(self.criterion, self.y.shape[1], self.n_classes, self.X.shape[1])


def grow_forest(plan: ForestPlan, seeds: Array, watch: Watch) -> Solution:
    """Grow one tree per seed, or as many as the time allows; θ is the `GrownForest`.

    On Ctrl-C, the trees grown so far are attached to the exception. Cost: O(√d·n log n) per tree
    with √d columns per split.
    """
    growing = _OnSortedColumns(plan) if plan.columns is None else _OnColumns(plan, plan.columns)
    done, outcome = 0, Outcome.EXACT

    def solution(outcome: Outcome) -> Solution:
        return Solution(
            theta=_pruned(growing.forest(seeds[:done]), plan.ccp_alpha),
            outcome=outcome,
            solver="forest",
            reason="trees are grown independently of one another",
            steps=done,
            message=f"{done} of {len(seeds)} trees",
        )

    seconds = BATCH_SECONDS_ON_WORKERS if isinstance(plan.columns, WorkerColumns) else BATCH_SECONDS
    size, began = plan.threads, time.monotonic()
    try:
        while done < len(seeds) and outcome is Outcome.EXACT:
            growing.grow(seeds[done : done + size])
            before, done = done, min(done + size, len(seeds))
            outcome = _seen(watch, before, growing.forest, seeds[:done])
            each = (time.monotonic() - began) / done
            if watch.on_step is None:
                size = max(1, int(seconds / max(each, 1e-9) / plan.threads)) * plan.threads
    except KeyboardInterrupt as interrupt:
        if done:
            interrupt.solution = solution(Outcome.INTERRUPTED)  # type: ignore[attr-defined]
        raise
    return solution(outcome if done < len(seeds) else Outcome.EXACT)


def _seen(
    watch: Watch, before: int, forest: Callable[[Array], GrownForest], seeds: Array
) -> Outcome:
    """Report every tree of a batch to the watch; return the resulting outcome."""
    theta = None if watch.on_step is None else forest(seeds)
    for step in range(before + 1, len(seeds) + 1):
        verdict = watch(step, theta, float("nan"))
        if verdict is not Verdict.GO_ON:
            out_of_time = verdict is Verdict.OUT_OF_TIME
            return Outcome.OUT_OF_TIME if out_of_time else Outcome.INTERRUPTED
    return Outcome.EXACT


def _pruned(forest: GrownForest, alpha: float) -> GrownForest:
    """The forest with every tree pruned at α."""
    if alpha == 0.0:
        return forest
    trees = []
    for number in range(len(forest)):
        sequence = weakest_links(forest.tree(number))
        trees.append(sequence.tree_at(sequence.step_at(alpha)))
    return forest.of_trees(trees, forest.seeds)


class _OnColumns:
    """Batches of trees, each grown by one thread."""

    def __init__(self, plan: ForestPlan, columns: _native.ForestColumns | WorkerColumns) -> None:
        self._start = plan.empty()
        self._columns = columns
        self._batches: list[tuple[Array, ...]] = []
        self._n_values = self._start.packed.values.shape[0]
        self._n_sets = 0
        self._threads = plan.threads
        n, d = plan.X.shape
        X: Any = plan.X
        cells = X.nnz if is_sparse(X) else n * d
        self._need = (
            cells * CODE_BYTES + n * plan.threads * ROW_BYTES,
            f"Growing trees on {n} × {d} numbers with {plan.threads} "
            f"{'thread' if plan.threads == 1 else 'threads'}",
            "Use fewer rows, fewer threads with th.config(threads=...), or smaller trees with "
            "max_leaf_nodes.",
        )
        self._rows: dict[str, Any] = {
            "y": plan.y,
            "weight": kernel_weights(plan.weight),
        }
        self._settings: dict[str, Any] = {
            "monotone": np.asarray([] if plan.monotone is None else plan.monotone, dtype=np.int8),
            "n_classes": max(plan.n_classes) if plan.criterion in OF_CLASSES else 0,
            "criterion": plan.criterion,
            "draws": plan.rows.draws,
            "balanced": plan.balanced,
            "replacement": plan.rows.replacement,
            "max_features": plan.max_features,
            "features_per_tree": plan.features_per_tree,
            "max_candidates": plan.max_candidates,
            "exact_rows": plan.exact_rows,
            "max_depth": UNBOUNDED if plan.max_depth is None else min(plan.max_depth, UNBOUNDED),
            "max_leaves": plan.max_leaves or 0,
            "min_split": plan.min_split,
            "min_leaf": plan.min_leaf,
            "min_weight_share": plan.min_weight_share,
            "min_decrease": plan.min_decrease,
        }

    def grow(self, seeds: Array) -> None:
        columns, first = self._columns, self._start.packed.values.shape[0]
        if isinstance(columns, WorkerColumns):
            settings = {**self._settings, "first_value": first, "first_set": 0}
            for nodes, *others in columns.grow(settings, seeds):
                known = nodes.view(NODE)
                placed = renumbered(known, first, self._n_values - first, self._n_sets)
                self._add((placed, *others))
            return
        with shortage_explained(*self._need):
            batch = _native.grow_forest(
                columns=columns,
                **self._rows,
                **self._settings,
                seeds=seeds,
                first_value=self._n_values,
                first_set=self._n_sets,
                threads=self._threads,
            )
        self._add(batch)

    def _add(self, batch: tuple[Array, ...]) -> None:
        self._batches.append(batch)
        self._n_values += batch[2].shape[0]
        self._n_sets += batch[3].shape[0]

    def forest(self, seeds: Array) -> GrownForest:
        return self._start.extended(self._batches, seeds)


class _OnSortedColumns:
    """Trees grown one after another; the columns of each are shared among threads."""

    def __init__(self, plan: ForestPlan) -> None:
        self._plan = plan
        self._columns = sorted_columns(plan.X, plan.categorical, not plan.random_thresholds)
        self._trees: list[Any] = []

    def grow(self, seeds: Array) -> None:
        plan, rows = self._plan, self._plan.rows
        for seed in seeds.tolist():
            weight = rows.weights(seed)
            total = float(plan.X.shape[0] if weight is None else weight.sum())
            self._trees.append(
                grow_tree(
                    self._columns,
                    plan.y,
                    weight,
                    criterion=plan.criterion,
                    max_depth=plan.max_depth,
                    max_leaves=plan.max_leaves,
                    min_split=plan.min_split,
                    min_leaf=plan.min_leaf,
                    min_weight=plan.min_weight_share * total,
                    min_decrease=plan.min_decrease,
                    max_features=plan.max_features,
                    monotone=plan.monotone,
                    seed=seed,
                )
            )

    def forest(self, seeds: Array) -> GrownForest:
        empty = self._plan.empty()
        return empty.of_trees(self._trees, seeds) if self._trees else empty
