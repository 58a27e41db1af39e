"""Trees with the weights of their training rows: predictions where some columns are not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.packed import CATEGORICAL, MISSING_LEFT, PackedTrees


@dataclass(frozen=True)
class WeightedTrees:
    """The function start + Σ trees / divisor, with the training weight of every leaf.

    At a split of a column that is not known, both sides are averaged with the weights of the
    training rows.
    """

    trees: PackedTrees
    weights: Array
    """One number per node; those of leaves are used."""
    start: Array
    """One number per output."""
    divisor: int = 1

    def shapley(self, X: Matrix) -> tuple[Array, Array]:
        """Shapley values of the columns, (n, d, outputs), and the mean prediction (outputs,)."""
        found, base = self.trees.shapley(X, self.weights, len(self.start))
        return found / self.divisor, base / self.divisor + self.start

    def given(self, X: Matrix, column: int) -> Array:
        """The prediction if only one column of each row is known, (n, outputs).

        Cost: O(n · nodes).
        """
        x = np.asarray(X[:, [column]].toarray() if is_sparse(X) else X[:, [column]])[:, 0]
        nodes, width = self.trees.nodes, len(self.start)
        owner = np.repeat(np.arange(self.trees.n_trees), np.diff(self.trees.roots))
        left = nodes["child"] + self.trees.roots[owner]  # of inner nodes
        weights = self._node_weights(left)
        found = np.zeros((len(x), width))
        at = self.trees.roots[:-1]
        reach = np.ones((len(at), len(x)))
        while at.size:  # one level of all trees after another
            leaf = nodes["feature"][at] < 0
            values = self.trees.values[nodes["child"][at[leaf]]]
            if values.shape[1] == width:
                found += reach[leaf].T @ values
            else:  # tree t belongs to one output
                np.add.at(found.T, owner[at[leaf]] % width, reach[leaf] * values)
            at, reach = at[~leaf], reach[~leaf]
            # A node without weight has no rows that say more than one half.
            share = np.divide(
                weights[left[at]], weights[at], out=np.full(at.size, 0.5), where=weights[at] > 0
            )
            known = (nodes["feature"][at] & (CATEGORICAL - 1)) == column
            to_left = np.where(known[:, None], self._goes_left(nodes[at], x), share[:, None])
            at = np.concatenate([left[at], left[at] + 1])
            reach = np.concatenate([reach * to_left, reach * (1.0 - to_left)])
        return found / self.divisor + self.start

    def _node_weights(self, left: Array) -> Array:
        """The weight of every node: of an inner node, the sum of its leaves."""
        feature = self.trees.nodes["feature"]
        weights = np.where(feature < 0, self.weights, 0.0)
        levels, at = [], self.trees.roots[:-1]
        while at.size:
            levels.append(at[feature[at] >= 0])
            at = np.concatenate([left[levels[-1]], left[levels[-1]] + 1])
        for level in reversed(levels):
            weights[level] = weights[left[level]] + weights[left[level] + 1]
        return weights

    def _goes_left(self, nodes: Array, x: Array) -> Array:
        """Whether each value goes left at each node, (nodes, n)."""
        with np.errstate(invalid="ignore"):
            left = x <= nodes["threshold"][:, None]
        sets = self.trees.sets
        for place in np.flatnonzero(nodes["feature"] & CATEGORICAL):
            bits = sets[int(nodes["threshold"][place])]
            code = np.nan_to_num(x, nan=-1.0).astype(np.int64)
            inside = (code >= 0) & (code < 32 * len(bits))
            safe = np.where(inside, code, 0)
            left[place] = inside & ((bits[safe // 32] >> (safe % 32).astype(np.uint32)) & 1 == 1)
        missing = ((nodes["feature"] & MISSING_LEFT) != 0)[:, None]
        return np.where(np.isnan(x), missing, left)
