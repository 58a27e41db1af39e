"""Gradient boosting for any loss: f_m = f_{m−1} + η·tree_m, with tree_m fitted to −∂ℓ/∂f.

    f₀ = argmin_c Σ w·ℓ(y, c);    r_i = −∂ℓ(y_i, f)/∂f;    tree by least squares;    leaves anew

One tree for each column of raw predictions (each class) and round. Raw predictions are updated
from the rows of the leaves, in the order in which `PackedTrees.sum` adds, so that going on from
kept trees gives the same bits as never having stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetahat.data.bins import Bins, Codes
from thetahat.mathematics.losses.base import Curved, Subdifferentiable
from thetahat.mathematics.losses.residual import Huber, Squared
from thetahat.models.ensemble.gradient_trees import (
    NO_ROWS,
    Leaves,
    TreeRules,
    grow_tree,
    with_leaf_values,
)
from thetahat.models.ensemble.leaf_values import newton_values, searched_values, takes_newton_steps
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.pruning import weakest_links
from thetahat.models.tree.structure import Tree

Array = Any


@dataclass(frozen=True)
class Rows:
    """Rows as boosting sees them: numbers with NaN for missing, targets of the loss, weights."""

    X: Array
    y: Array
    weight: Array | None

    def mean(self, values: Array) -> float:
        """The weighted mean of numbers by row."""
        return float(np.average(values, weights=self.weight))


@dataclass(frozen=True)
class Plan:
    """What a boosting fit does in each round."""

    loss: Subdifferentiable
    learning_rate: float
    rules: TreeRules
    n_columns: int = 1
    """Raw predictions per row."""
    subsample: float = 1.0
    """Share of the rows that a round's trees are fitted on."""
    leaf_update: str = "auto"
    curved_splits: bool = True
    """Whether splits weigh rows by their curvature; else they are least squares of the slopes."""
    huber_level: float | None = None
    """Quantile of |residual| from which Huber's loss is linear, found anew in every round."""
    ccp_alpha: float = 0.0
    """Price of a leaf at which every tree is pruned."""
    seed: int = 0

    def in_round(self, number: int) -> np.random.Generator:
        """The randomness of one round: the same whether or not others came before it."""
        return np.random.default_rng([self.seed, number])


@dataclass
class Boosting:
    """Boosting under way: the trees so far, and the raw predictions they make."""

    plan: Plan
    rows: Rows
    bins: Bins
    codes: Codes
    start: Array
    """f₀ of every row, (n, n_columns)."""
    trees: list[Tree] = field(default_factory=list)
    raw: Array = field(init=False)
    loss: Subdifferentiable = field(init=False)
    """The loss of the current round; Huber's is refitted to the residuals."""
    left_out_losses: tuple[float, float] | None = None
    """Mean loss of the rows the last round did not draw, before and after it."""

    def __post_init__(self) -> None:
        self.raw = np.array(self.start, dtype=np.float64, order="C")
        self.loss = self.plan.loss
        if self.trees:
            PackedTrees.pack(self.trees).sum(self.rows.X, self.raw, self.plan.n_columns)

    @property
    def n_rounds(self) -> int:
        return len(self.trees) // self.plan.n_columns

    def step(self) -> Sequence[Tree]:
        """One round: its trees, which are kept, and their values added to the predictions."""
        plan, rows = self.plan, self.rows
        random = plan.in_round(self.n_rounds)
        self.loss = self._loss_of_round()
        slope, curvature = self._derivatives()
        drawn = self._draw(random)
        before = self.raw.copy() if plan.n_columns > 1 or drawn.size else self.raw
        bends = curvature if plan.curved_splits else None
        grown = []
        for column in range(plan.n_columns):
            tree, leaves = grow_tree(
                self.codes,
                self.bins,
                np.ascontiguousarray(slope[:, column]),
                None if bends is None else np.ascontiguousarray(bends[:, column]),
                rows.weight,
                plan.rules,
                rows=drawn,
                seed=int(random.integers(1 << 32)),
            )
            if not takes_newton_steps(self.loss, plan.leaf_update):
                found = searched_values(self.loss, leaves, rows.y, before, column, rows.weight)
                tree = with_leaf_values(tree, leaves, self._in_bounds(tree, leaves, found))
            elif curvature is not None and not plan.curved_splits:
                found = newton_values(leaves, slope[:, column], curvature[:, column], rows.weight)
                tree = with_leaf_values(tree, leaves, found)
            tree.values[:] *= plan.learning_rate
            if plan.ccp_alpha:
                sequence = weakest_links(tree)
                tree = sequence.tree_at(sequence.step_at(plan.ccp_alpha))
                self.raw[:, column] += tree.packed.sum(rows.X)[:, 0]
            else:
                self._add(tree, leaves, drawn, column)
            grown.append(tree)
        if drawn.size:
            self.left_out_losses = self._losses_of_others(drawn, before)
        self.trees.extend(grown)
        return grown

    def mean_loss(self) -> float:
        """The mean loss of the rows fitted."""
        return self.rows.mean(self.loss.value(self.rows.y, self._scores(self.raw)))

    def _scores(self, raw: Array) -> Array:
        return raw if self.loss.columns == "per class" else raw[:, 0]

    def _derivatives(self) -> tuple[Array, Array | None]:
        """Slope and (for Newton steps) curvature, (n, n_columns)."""
        z, y = self._scores(self.raw), self.rows.y
        shape = self.raw.shape
        if isinstance(self.loss, Squared) or not takes_newton_steps(
            self.loss, self.plan.leaf_update
        ):
            return self.loss.gradient(y, z).reshape(shape), None
        assert isinstance(self.loss, Curved)
        slope, curvature = self.loss.gradient_and_curvature(y, z)
        return slope.reshape(shape), curvature.reshape(shape)

    def _loss_of_round(self) -> Subdifferentiable:
        if self.plan.huber_level is None or not isinstance(self.loss, Huber):
            return self.loss
        residual = np.abs(self.rows.y - self.raw[:, 0])
        all_rows = Leaves(
            np.arange(len(residual), dtype=np.uint32), np.zeros(1), np.array([0, len(residual)])
        )
        delta = float(all_rows.quantiles(residual, self.rows.weight, self.plan.huber_level)[0])
        return replace(self.loss, delta=delta) if delta > 0 else self.loss

    def _draw(self, random: np.random.Generator) -> Array:
        """The rows of this round; all of them as none named."""
        if self.plan.subsample >= 1.0:
            return NO_ROWS
        n = len(self.rows.y)
        size = max(1, int(self.plan.subsample * n))
        chosen = random.choice(n, size=size, replace=False, shuffle=False)
        return np.sort(chosen).astype(np.uint32)

    def _losses_of_others(self, drawn: Array, before: Array) -> tuple[float, float]:
        others = np.ones(len(before), dtype=bool)
        others[drawn] = False
        rows = self.rows
        part = Rows(rows.X, rows.y[others], None if rows.weight is None else rows.weight[others])
        first, last = (
            part.mean(self.loss.value(part.y, self._scores(raw[others])))
            for raw in (before, self.raw)
        )
        return first, last

    def _in_bounds(self, tree: Tree, leaves: Leaves, found: Array) -> Array:
        """Leaf values kept in the order that a monotonic constraint asks for."""
        if self.plan.rules.monotonic is None:
            return found
        low, high = _monotone_ranges(tree, self.plan.rules.monotonic)
        return np.clip(found, low[leaves.nodes], high[leaves.nodes])

    def _add(self, tree: Tree, leaves: Leaves, drawn: Array, column: int) -> None:
        leaves.add(np.ascontiguousarray(tree.values[leaves.nodes, 0]), self.raw, column)
        if drawn.size:
            left_out = np.ones(len(self.raw), dtype=bool)
            left_out[drawn] = False
            self.raw[left_out, column] += tree.packed.sum(self.rows.X[left_out])[:, 0]


def _monotone_ranges(tree: Tree, monotonic: Array) -> tuple[Array, Array]:
    """Between which values a node may answer: siblings along a directed column keep a middle."""
    low, high = np.full(tree.node_count, -np.inf), np.full(tree.node_count, np.inf)
    value = tree.values[:, 0]
    for node in np.flatnonzero(tree.feature >= 0):  # parents come before children
        left, right = tree.left[node], tree.left[node] + 1
        low[[left, right]], high[[left, right]] = low[node], high[node]
        direction = monotonic[tree.feature[node]]
        if direction:
            middle = np.clip((value[left] + value[right]) / 2, low[node], high[node])
            (high if direction > 0 else low)[left] = middle
            (low if direction > 0 else high)[right] = middle
    return low, high


def no_better(scores: Sequence[float], patience: int, tolerance: float) -> bool:
    """Whether none of the last `patience` scores beats the one before them by `tolerance`."""
    if len(scores) <= patience:
        return False
    reference = scores[-patience - 1] + tolerance
    return not any(score > reference for score in scores[-patience:])


Scorer = Callable[[Array], float]
"""The score of raw predictions (n, n_columns) of some rows; larger is better."""
