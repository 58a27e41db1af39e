"""Trees whose leaves store the rank of their value, for fast weighted medians.

Small trees have few leaves. Sorting all leaf values once makes sorting per row unnecessary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import PackedTrees

MOST_LEAVES = 64
"""Maximum number of leaves per tree: one bit each in a word of 64 bits."""
ROWS_PER_THREAD = 2048
"""Minimum number of rows per thread."""


@dataclass(frozen=True)
class RankedTrees(CheckedValue):
    """Trees that return the ranks of their leaves, and the values by rank."""

    walk: PackedTrees
    values: Array
    """The values of all leaves, ascending (float64)."""
    tree_of: Array
    """The tree of each value (int32)."""

    def __post_init__(self) -> None:
        check_rule(self, isinstance(self.walk, PackedTrees), "walk must be PackedTrees")
        n = self.walk.values.shape[0]
        check_arrays(self, {"values": (np.float64, (n,)), "tree_of": (np.int32, (n,))})
        within = (self.tree_of >= 0) & (self.tree_of < self.walk.n_trees)
        check_rule(self, bool(within.all()), "the tree of a value must be one of the trees")

    @classmethod
    def of(cls, trees: PackedTrees | None) -> RankedTrees | None:
        """The trees with ranks in their leaves; None if they have too many. Cost: O(L log L)."""
        if trees is None or len(trees.values) > MOST_LEAVES * trees.n_trees:
            return None
        order = np.argsort(trees.values[:, 0], kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order))
        is_leaf = trees.nodes["feature"] < 0
        of_nodes = np.repeat(np.arange(trees.n_trees, dtype=np.int32), np.diff(trees.roots))
        tree_of = np.empty(len(order), dtype=np.int32)
        tree_of[trees.nodes["child"][is_leaf]] = of_nodes[is_leaf]
        walk = replace(trees, values=ranks[:, None])
        return cls(walk, trees.values[order, 0], tree_of[order])

    def ranks(self, X: Array) -> Array:
        """Rank of the leaf of each row in each tree, (n, n_trees)."""
        return self.walk.sum(X, n_columns=self.walk.n_trees)

    def median(self, ranks: Array, votes: Array) -> Array:
        """For each row, the smallest value with at least half of the votes at or below it.

        Uses the first trees, as many as there are votes. Cost: O(T + L/64) per row.
        """
        out = np.empty(len(ranks))
        threads = min(n_threads(), 1 + len(ranks) // ROWS_PER_THREAD)
        _native.ranked_median(ranks, votes, self.tree_of, self.values, out, threads)
        return out
