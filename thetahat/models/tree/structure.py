"""A grown tree: a piecewise constant function f(x) = Σⱼ vⱼ·1[x ∈ Rⱼ] on axis-parallel regions.

Nodes are numbered in the order in which they were created: parents before children, siblings next
to each other, so that the right child of a node is its left child + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.packed import PackedTrees

LEAF = -1
"""Value of `left` at a leaf."""
UNDEFINED = -2
"""Value of `feature` and `threshold` at a leaf, as in scikit-learn."""
FLOATS, WORDS = np.dtype(np.float64), np.dtype(np.uint32)
PER_NODE = {
    "feature": np.dtype(np.int32),
    "left": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "missing_left": np.dtype(np.uint8),
    "category_set": np.dtype(np.int32),
    "gain": np.dtype(np.float64),
    "impurity": np.dtype(np.float64),
    "weight": np.dtype(np.float64),
    "count": np.dtype(np.int64),
}
"""The arrays with one number per node."""


@dataclass(frozen=True)
class Tree(CheckedValue):
    """Nodes as arrays with one entry per node; the names of scikit-learn are properties.

    Validated when created: every path from the root ends at a leaf.
    """

    feature: Array
    """Column of the split, −2 at a leaf (int32)."""
    left: Array
    """Number of the left child, −1 at a leaf (int32)."""
    threshold: Array
    """Values ≤ threshold go left, in the units of the data; −2 at a leaf (float64)."""
    missing_left: Array
    """Whether rows with a missing value in that column go left (uint8)."""
    category_set: Array
    """For a categorical split, the row of `category_sets` that goes left; else −1 (int32)."""
    gain: Array
    """Gain of the split, in the units of its criterion (float64)."""
    impurity: Array
    weight: Array
    """Sum of the weights of the node's rows."""
    count: Array
    """Number of the node's rows with a positive weight (int64)."""
    values: Array
    """Values of the nodes, (n_nodes, width): a mean, class proportions or a step (float64)."""
    category_sets: Array
    """One bit per category that goes left, (n_sets, words) (uint32)."""
    n_features: int
    n_outputs: int = 1
    n_classes: tuple[int, ...] = (1,)
    """Classes per output; 1 for regression."""

    def __post_init__(self) -> None:
        n = self.feature.shape[0] if isinstance(self.feature, np.ndarray) else None
        width = self.values.shape[1] if np.ndim(self.values) == 2 else None
        sets = self.category_sets.shape if np.ndim(self.category_sets) == 2 else (None, None)
        layout: dict[str, Any] = {name: (dtype, (n,)) for name, dtype in PER_NODE.items()}
        layout["values"], layout["category_sets"] = (FLOATS, (n, width)), (WORDS, sets)
        check_arrays(self, layout)
        try:
            _native.check_nodes(
                self.feature,
                self.left,
                self.category_set,
                self.category_sets.shape[0],
                self.n_features,
            )
        except (ValueError, TypeError) as failure:
            check_rule(self, False, str(failure).splitlines()[0])
        check_rule(
            self,
            self.n_outputs >= 1 and self.values.shape[1] % self.n_outputs == 0,
            f"{self.values.shape[1]} values per node cannot be shared by {self.n_outputs} outputs",
        )

    @property
    def node_count(self) -> int:
        return int(self.feature.shape[0])

    @property
    def capacity(self) -> int:
        """Number of nodes for which there is memory, as in scikit-learn."""
        return self.node_count

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @cached_property
    def depth(self) -> Array:
        """Number of edges from the root, per node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):  # parents come before children
            depth[self.left[node] : self.left[node] + 2] = depth[node] + 1
        return depth

    def compute_node_depths(self) -> Array:
        """Number of nodes from the root to each node, both counted, as in scikit-learn (int64)."""
        return self.depth + 1

    @cached_property
    def parent(self) -> Array:
        """The parent of every node, −1 for the root (int64)."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.left[inner]] = inner
        parent[self.left[inner] + 1] = inner
        return parent

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    @property
    def children_left(self) -> Array:
        return self.left.astype(np.int64)

    @property
    def children_right(self) -> Array:
        return np.where(self.left >= 0, self.left + 1, LEAF).astype(np.int64)

    @property
    def n_node_samples(self) -> Array:
        return self.count

    @property
    def weighted_n_node_samples(self) -> Array:
        return self.weight

    @property
    def missing_go_to_left(self) -> Array:
        return self.missing_left

    @property
    def max_n_classes(self) -> int:
        return max(self.n_classes)

    @property
    def value(self) -> Array:
        """The values by output and class, (n_nodes, n_outputs, max_n_classes)."""
        return self.values.reshape(self.node_count, self.n_outputs, -1)

    @cached_property
    def majority(self) -> Array:
        """Majority class of each node and output (the first for ties), (n_nodes, n_outputs)."""
        return self.value.argmax(axis=2)

    @cached_property
    def packed(self) -> PackedTrees:
        """The tree in the layout used for prediction."""
        return PackedTrees.pack([self])

    def predict(self, X: Matrix) -> Array:
        """The value of the leaf of every row, as in scikit-learn.

        (n, max_n_classes) for one output, else (n, n_outputs, max_n_classes).
        """
        values = self.values_of(X)
        return values[:, 0] if self.n_outputs == 1 else values

    def values_of(self, X: Matrix) -> Array:
        """The value of the leaf of every row, (n, n_outputs, max_n_classes)."""
        return self.packed.sum(X).reshape(X.shape[0], self.n_outputs, -1)

    def apply(self, X: Matrix) -> Array:
        """The number of the leaf of every row, (n,)."""
        return self.packed.leaves(X)[0].astype(np.int64)

    def decision_path(self, X: Matrix) -> csr_matrix:
        """The nodes that each row passes, (n, n_nodes)."""
        leaves = self.apply(X)
        ends = np.concatenate([[0], np.cumsum(self.depth[leaves] + 1)])
        nodes = np.empty(int(ends[-1]), dtype=np.int64)
        at, place = leaves, ends[1:] - 1
        while at.size:
            nodes[place] = at
            inner = at > 0
            at, place = self.parent[at[inner]], place[inner] - 1
        shape = (leaves.shape[0], self.node_count)
        return csr_matrix((np.ones(nodes.shape[0], dtype=np.int64), nodes, ends), shape=shape)

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Total gain of the splits on each column: Σ over nodes of w·φ − w_L·φ_L − w_R·φ_R."""
        inner = np.flatnonzero(self.feature >= 0)
        spread = self.weight * self.impurity
        gains = spread[inner] - spread[self.left[inner]] - spread[self.left[inner] + 1]
        sums = np.bincount(self.feature[inner], weights=gains, minlength=self.n_features)
        total = sums.sum()
        if not normalize:
            return sums / self.weight[0]
        return sums / total if total > 0.0 else sums
