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

        Subtrees without splits of that column count with their mean. Cost: O(nodes), and O(n) for
        every node above a split of that column.
        """
        x = np.asarray(X[:, [column]].toarray() if is_sparse(X) else X[:, [column]])[:, 0]
        nodes, width = self.trees.nodes, len(self.start)
        owner = np.repeat(np.arange(self.trees.n_trees), np.diff(self.trees.roots))
        left = nodes["child"] + self.trees.roots[owner]  # of inner nodes
        splits = (nodes["feature"] & (CATEGORICAL - 1)) == column
        splits &= nodes["feature"] >= 0
        weights, means, matters = self._subtrees(left, splits)
        found = np.zeros((len(x), width))
        at = self.trees.roots[:-1]
        reach = np.ones((len(at), len(x)))
        while at.size:  # one level of all trees after another
            ends = ~matters[at]
            if means.shape[1] == width:
                found += reach[ends].T @ means[at[ends]]
            else:  # tree t belongs to one output
                np.add.at(found.T, owner[at[ends]] % width, reach[ends] * means[at[ends]])
            at, reach = at[~ends], reach[~ends]
            known = splits[at]
            to_left = np.empty_like(reach)
            to_left[known] = self._goes_left(nodes[at[known]], x)
            to_left[~known] = _share(weights[left[at[~known]]], weights[at[~known]])[:, None]
            to_left *= reach
            at = np.concatenate([left[at], left[at] + 1])
            reach = np.concatenate([to_left, reach - to_left])
        return found / self.divisor + self.start

    def _subtrees(self, left: Array, splits: Array) -> tuple[Array, Array, Array]:
        """Of every node its weight, the weighted mean of its leaves, and whether it `splits` below.

        The mean is only needed, and only right, where nothing below splits.
        """
        nodes = self.trees.nodes
        leaf = nodes["feature"] < 0
        weights, matters = np.where(leaf, self.weights, 0.0), splits.copy()
        means = np.zeros((len(nodes), self.trees.values.shape[1]))
        means[leaf] = self.trees.values[nodes["child"][leaf]]
        levels, at = [], self.trees.roots[:-1]
        while at.size:
            levels.append(at[~leaf[at]])
            at = np.concatenate([left[levels[-1]], left[levels[-1]] + 1])
        for level in reversed(levels):
            first, second = left[level], left[level] + 1
            weights[level] = weights[first] + weights[second]
            share = _share(weights[first], weights[level])[:, None]
            means[level] = share * means[first] + (1.0 - share) * means[second]
            matters[level] |= matters[first] | matters[second]
        return weights, means, matters

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


def _share(part: Array, whole: Array) -> Array:
    """part / whole; one half for nodes without weight, which no training row has reached."""
    return np.divide(part, whole, out=np.full(len(part), 0.5), where=whole > 0)
