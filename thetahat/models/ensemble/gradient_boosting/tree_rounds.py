"""One iteration of boosting with histogram trees, one per column of raw predictions.

Each tree is fitted to the gradients by least squares; then every leaf takes the constant with the
smallest loss. Raw predictions are updated in the same order in which `PackedTrees.sum` adds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.bins import Bins, Codes
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.gradient_trees import (
    Leaves,
    SparseColumns,
    TreeRules,
    grow_tree,
    with_leaf_values,
)
from thetahat.models.ensemble.gradient_boosting.leaf_values import (
    newton_values,
    searched_values,
    takes_newton_steps,
)
from thetahat.models.ensemble.gradient_boosting.rounds import Plan, Round, Rows
from thetahat.models.tree.pruning import weakest_links
from thetahat.models.tree.structure import Tree


@dataclass(frozen=True)
class TreeRounds:
    """Callable that fits the trees of an iteration and adds their values to the raw predictions."""

    plan: Plan
    rows: Rows
    bins: Bins
    codes: Codes | SparseColumns
    rules: TreeRules
    curved_splits: bool = True
    """Whether splits weight rows by their curvature; else plain least squares on the slopes."""
    ccp_alpha: float = 0.0
    """Strength of cost-complexity pruning."""

    def __call__(self, now: Round) -> list[Tree]:
        return [self._grown(now, column) for column in range(self.plan.n_columns)]

    def _grown(self, now: Round, column: int) -> Tree:
        rows, slope, curvature = self.rows, now.slope[:, column], self._curvature(now, column)
        tree, leaves = grow_tree(
            self.codes,
            self.bins,
            np.ascontiguousarray(slope),
            curvature if self.curved_splits else None,
            rows.weight,
            self.rules,
            rows=now.drawn,
            seed=int(now.random.integers(1 << 32)),
        )
        if not takes_newton_steps(now.loss, self.plan.leaf_update):
            found = searched_values(now.loss, leaves, rows.y, now.before, column, rows.weight)
            found = in_monotone_ranges(tree, leaves.nodes, found, self.rules.monotonic)
            tree = with_leaf_values(tree, leaves.nodes, found)
        elif curvature is not None and not self.curved_splits:
            found = newton_values(leaves, slope, curvature, rows.weight)
            tree = with_leaf_values(tree, leaves.nodes, found)
        tree.values[:] *= self.plan.learning_rate
        if self.ccp_alpha:
            sequence = weakest_links(tree)
            tree = sequence.tree_at(sequence.step_at(self.ccp_alpha))
            now.raw[:, column] += tree.packed.sum(rows.X)[:, 0]
        else:
            self._add(tree, leaves, now, column)
        return tree

    def _curvature(self, now: Round, column: int) -> Array | None:
        """Curvature of the loss along one column of raw predictions, contiguous.

        The trees of all K classes are added at once. The loss does not change with the mean of the
        scores, and across that direction its curvature, for equal class probabilities, is K/(K − 1)
        times the diagonal entry p·(1 − p) of the Hessian. Without this factor the steps are too
        long, and the probabilities overconfident.
        """
        if now.curvature is None:
            return None
        n_classes = self.plan.n_columns
        factor = n_classes / (n_classes - 1) if n_classes > 1 else 1.0
        return np.ascontiguousarray(now.curvature[:, column] * factor)

    def _add(self, tree: Tree, leaves: Leaves, now: Round, column: int) -> None:
        leaves.add(np.ascontiguousarray(tree.values[leaves.nodes, 0]), now.raw, column)
        if now.drawn.size:
            out_of_bag = now.out_of_bag
            now.raw[out_of_bag, column] += tree.packed.sum(self.rows.X[out_of_bag])[:, 0]


def in_monotone_ranges(tree: Tree, leaves: Array, found: Array, monotonic: Array | None) -> Array:
    """Values of the leaves (nodes), clipped to the ranges that monotonic constraints allow."""
    if monotonic is None:
        return found
    low, high = _monotone_ranges(tree, monotonic)
    return np.clip(found, low[leaves], high[leaves])


def _monotone_ranges(tree: Tree, monotonic: Array) -> tuple[Array, Array]:
    """Range allowed for the value of each node: constrained siblings share a midpoint."""
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
