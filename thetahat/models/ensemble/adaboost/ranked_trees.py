"""Trees whose leaves are known by the rank of their values, for medians of what they say.

Small trees have few leaves: sorted once when the trees are put together, no row need sort its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import PackedTrees

MOST_LEAVES = 64
"""Leaves per tree up to which ranks are quicker than sorting: a bit each, a word per tree."""
ROWS_PER_THREAD = 2048
"""Fewer rows than this are not worth a thread of their own."""


@dataclass(frozen=True)
class RankedTrees:
    """Trees that answer with the ranks of their leaves, and the values by rank."""

    walk: PackedTrees
    values: Array
    """The values of all leaves, ascending (float64)."""
    tree_of: Array
    """The tree of each (int32)."""

    @classmethod
    def of(cls, trees: PackedTrees | None) -> RankedTrees | None:
        """The trees with ranks in their leaves; None where there are too many. Cost: O(L log L)."""
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
        """The rank of each row's leaf in each tree, (n, n_trees)."""
        return self.walk.sum(X, n_columns=self.walk.n_trees)

    def median(self, ranks: Array, votes: Array) -> Array:
        """Of each row, the least value that has half the votes at or below it.

        Over the first trees, as many as there are votes. Cost: O(T + L/64) a row.
        """
        out = np.empty(len(ranks))
        threads = min(n_threads(), 1 + len(ranks) // ROWS_PER_THREAD)
        _native.ranked_median(ranks, votes, self.tree_of, self.values, out, threads)
        return out
