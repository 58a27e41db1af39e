"""Pruning: a nested sequence of smaller and smaller trees, made by turning inner nodes into leaves.

With R(t) the risk of node t as a leaf, T_t the branch below it, R(T_t) the sum over its leaves, and
K the complexity of a tree (for example its number of leaves), the weakest link is the node with the
smallest

    g(t) = (R(t) − R(T_t)) / (K(T_t) − K(t)),

the increase of the risk per unit of complexity saved. Collapsing weakest links up to the root
gives, for every α, the smallest subtree that minimises R(T) + α·K(T).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.tree.structure import LEAF, UNDEFINED, Tree


@dataclass(frozen=True)
class PruningSequence:
    """The trees of a pruning, from the full tree (step 0) to its root alone."""

    tree: Tree
    leaf_from: Array
    """The step from which each node is a leaf, or removed with an ancestor (int64)."""
    levels: Array
    """Level of each step: α of a weakest link, or the impact; 0 for the full tree."""
    risks: Array
    """Sum of R over the leaves, per step."""
    n_nodes: Array
    """Number of nodes, per step."""

    @property
    def n_steps(self) -> int:
        return int(self.levels.shape[0])

    @property
    def n_leaves(self) -> Array:
        return (self.n_nodes + 1) // 2

    def step_at(self, level: float) -> int:
        """The last step whose level does not exceed `level`; at least step 0."""
        reached = np.maximum.accumulate(self.levels)  # rounding may decrease a level slightly
        return max(0, int(np.searchsorted(reached, level, side="right")) - 1)

    def step_of_size(self, n_nodes: int) -> int:
        """The first step with at most `n_nodes` nodes; at most the root alone."""
        return min(self.n_steps - 1, int(np.searchsorted(-self.n_nodes, -n_nodes)))

    def tree_at(self, step: int) -> Tree:
        """The tree after `step` steps."""
        return pruned(self.tree, self.leaf_from <= step)


def pruned(tree: Tree, is_leaf: Array) -> Tree:
    """The tree in which the nodes marked by `is_leaf` have no children.

    Values, impurities and weights of all nodes were stored while the tree grew, so nothing has to
    be recomputed. Cost: O(nodes).
    """
    cut = np.asarray(is_leaf, dtype=bool) | (tree.feature < 0)
    keep = np.zeros(tree.node_count, dtype=bool)
    keep[0] = True
    for node in np.flatnonzero(~cut):  # parents come before children
        keep[tree.left[node] : tree.left[node] + 2] = keep[node]
    place = np.cumsum(keep) - 1
    cut = cut[keep]
    sets = np.where(cut, LEAF, tree.category_set[keep])
    used = np.unique(sets[sets >= 0])
    return replace(
        tree,
        feature=np.where(cut, UNDEFINED, tree.feature[keep]).astype(tree.feature.dtype),
        left=np.where(cut, LEAF, place[tree.left[keep]]).astype(tree.left.dtype),
        threshold=np.where(cut, UNDEFINED, tree.threshold[keep]),
        missing_left=np.where(cut, 0, tree.missing_left[keep]).astype(tree.missing_left.dtype),
        category_set=np.where(sets < 0, LEAF, np.searchsorted(used, sets)).astype(
            tree.category_set.dtype
        ),
        gain=np.where(cut, 0.0, tree.gain[keep]),
        impurity=tree.impurity[keep],
        weight=tree.weight[keep],
        count=tree.count[keep],
        values=tree.values[keep],
        category_sets=tree.category_sets[used],
    )


def weakest_links(
    tree: Tree, risk: Array | None = None, leaf_cost: Any = 1.0, inner_cost: Any = 0.0
) -> PruningSequence:
    """Collapse the weakest link repeatedly until the root is a leaf.

    `risk` is R per node, by default w·φ/W (cost-complexity pruning, as in scikit-learn). The costs
    are the contributions of a node to K as a leaf and as an inner node, as numbers or one per node;
    by default leaves are counted. Cost: about O(nodes · (depth + log nodes)).
    """
    links = _Branches(tree, impurity_risk(tree) if risk is None else risk, leaf_cost, inner_cost)
    return links.collapse(links.weakness)


def least_impact(tree: Tree, risk: Array | None = None) -> PruningSequence:
    """Collapse repeatedly the pair of sibling leaves whose removal increases the risk least.

    The impact of making t a leaf is R(t) − R(left) − R(right). Cost: O(nodes · log nodes).
    """
    links = _Branches(tree, impurity_risk(tree) if risk is None else risk, 1.0, 0.0)
    return links.collapse(links.impact, far=False)


def impurity_risk(tree: Tree) -> Array:
    """R(t) = w_t·φ_t / W, per node."""
    return tree.weight * tree.impurity / tree.weight[0]


def error_risk(tree: Tree) -> Array:
    """Training error of the rows of each node, as a fraction of all rows.

    The weight of the rows outside the majority class (averaged over the outputs); for regression
    the impurity is already the error.
    """
    if tree.max_n_classes == 1:
        return impurity_risk(tree)
    return tree.weight / tree.weight[0] * (1.0 - tree.value.max(axis=2)).mean(axis=1)


def log_loss_risk(tree: Tree) -> Array:
    """−(w/W)·log p per node, for trees whose values are log densities; 0 for empty cells."""
    logs = np.where(tree.weight > 0, tree.values[:, 0], 0.0)
    return -tree.weight / tree.weight[0] * logs


class _Branches:
    """Risk and complexity of the branch below every node, updated as branches are collapsed."""

    def __init__(self, tree: Tree, risk: Array, leaf_cost: Any, inner_cost: Any) -> None:
        n = tree.node_count
        self.tree = tree
        self.leaf_from = np.where(tree.feature < 0, 0, -1).tolist()
        self.parent = tree.parent.tolist()
        self.left = tree.left.tolist()
        self.node_risk = np.broadcast_to(risk, n).astype(float).tolist()
        self.node_cost = np.broadcast_to(leaf_cost, n).astype(float).tolist()
        self.risk, self.cost, self.size = self.node_risk.copy(), self.node_cost.copy(), [1] * n
        own = np.broadcast_to(inner_cost, n).astype(float).tolist()
        self.inner = np.flatnonzero(tree.feature >= 0).tolist()
        for node in reversed(self.inner):
            left = self.left[node]
            self.risk[node] = self.risk[left] + self.risk[left + 1]
            self.cost[node] = own[node] + self.cost[left] + self.cost[left + 1]
            self.size[node] = 1 + self.size[left] + self.size[left + 1]

    def weakness(self, node: int) -> float:
        gain = self.cost[node] - self.node_cost[node]
        return (self.node_risk[node] - self.risk[node]) / gain

    def impact(self, node: int) -> float | None:
        """Impact of collapsing a node above two leaves; None for other nodes."""
        left = self.left[node]
        if self.leaf_from[left] < 0 or self.leaf_from[left + 1] < 0:
            return None
        self.risk[node], self.size[node] = self.node_risk[left] + self.node_risk[left + 1], 3
        return self.node_risk[node] - self.risk[node]

    def collapse(
        self, measure: Callable[[int], float | None], *, far: bool = True
    ) -> PruningSequence:
        """Turn the node with the smallest measure into a leaf, until only the root is left.

        For ties, the older node comes first. Collapsing nodes below a node can only increase its
        measure, so a node is measured again when it is next in the queue. `far` states whether a
        new leaf affects more nodes than its parent.
        """
        heap = [(value, node) for node in self.inner if (value := measure(node)) is not None]
        heapq.heapify(heap)
        levels, risks, sizes = [0.0], [self.risk[0]], [self.tree.node_count]
        while heap:
            level, node = heapq.heappop(heap)
            if self.leaf_from[node] >= 0:
                continue  # removed with a branch
            value = measure(node)
            if value is not None and value > level:
                heapq.heappush(heap, (value, node))
                continue
            self._mark(node, len(levels))
            levels.append(level)
            risks.append(risks[-1] + self.node_risk[node] - self.risk[node])
            sizes.append(sizes[-1] + 1 - self.size[node])
            self._collapse_one(node, far)
            parent = self.parent[node]
            if parent >= 0 and (value := measure(parent)) is not None:
                heapq.heappush(heap, (value, parent))
        return PruningSequence(
            tree=self.tree,
            leaf_from=np.array(self.leaf_from),
            levels=np.array(levels),
            risks=np.array(risks),
            n_nodes=np.array(sizes),
        )

    def _mark(self, node: int, step: int) -> None:
        """Record that the node and the rest of its branch end at this step."""
        stack = [node]
        while stack:
            top = stack.pop()
            if self.leaf_from[top] < 0:
                self.leaf_from[top] = step
                stack += (self.left[top], self.left[top] + 1)

    def _collapse_one(self, node: int, far: bool) -> None:
        """Make the node a leaf and update its ancestors."""
        risk = self.node_risk[node] - self.risk[node]
        cost = self.node_cost[node] - self.cost[node]
        size = 1 - self.size[node]
        while node >= 0:
            self.risk[node] += risk
            self.cost[node] += cost
            self.size[node] += size
            node = self.parent[node] if far else -1
