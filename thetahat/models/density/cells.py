"""The cells of a density tree: boxes, or polytopes for oblique splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import rows_per_block
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.models.density.box import Box
from thetahat.models.tree.structure import Tree


@dataclass(frozen=True)
class Directions(CheckedValue):
    """Directions of oblique splits, for rows that are centred and scaled by column.

    A tree over d columns with m oblique splits is axis-parallel over d + m columns: column d + k is
    the position of the row along direction k.
    """

    centre: Array
    scale: Array
    rows: Array
    """One direction per oblique node, (m, d)."""

    def __post_init__(self) -> None:
        d = np.size(self.centre)
        shapes = {"centre": (d,), "scale": (d,), "rows": (None, d)}
        check_arrays(self, {name: (np.float64, shape) for name, shape in shapes.items()})

    @property
    def coefficients(self) -> Array:
        """Coefficient of each column in each direction, (m, d), for rows as they are given."""
        return self.rows / self.scale

    @property
    def offsets(self) -> Array:
        """What is added to the sum of the columns times their coefficients, (m,)."""
        return -(self.coefficients @ self.centre)

    def beside(self, X: Array) -> Array:
        """[X, ((X − centre)/scale)·directionsᵀ]."""
        n, d = X.shape
        out = np.empty((n, d + self.rows.shape[0]))
        step = rows_per_block(out.shape[1])
        with one_blas_thread():
            for start in range(0, n, step):
                part = X[start : start + step]
                out[start : start + step, :d] = part
                out[start : start + step, d:] = ((part - self.centre) / self.scale) @ self.rows.T
        return out


@dataclass(frozen=True)
class Cells(CheckedValue):
    """A tree in its box: the leaf of each row, and the volumes of the leaves."""

    tree: Tree
    box: Box
    directions: Directions | None = None

    def __post_init__(self) -> None:
        check_rule(self, isinstance(self.tree, Tree), "tree must be a Tree")
        check_rule(self, isinstance(self.box, Box), "box must be a Box")
        more = 0 if self.directions is None else self.directions.rows.shape[0]
        check_rule(
            self,
            self.tree.n_features == self.box.low.shape[0] + more,
            f"the tree has {self.tree.n_features} columns, its box {self.box.low.shape[0]}",
        )

    @property
    def leaves(self) -> Array:
        """Numbers of the nodes that are leaves."""
        return np.flatnonzero(self.tree.feature < 0)

    @property
    def shares(self) -> Array:
        """Mass of every leaf; the masses sum to 1."""
        weight = self.tree.weight[self.leaves]
        return weight / weight.sum()

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the cell of every node, (n_nodes, d) each; not if oblique."""
        tree, d = self.tree, self.box.low.shape[0]
        low, high = (np.empty((tree.node_count, d)) for _ in range(2))
        low[0], high[0] = self.box.low, self.box.high
        for node in np.flatnonzero(tree.feature >= 0):  # parents come before children
            left, j = tree.left[node], tree.feature[node]
            low[left : left + 2], high[left : left + 2] = low[node], high[node]
            high[left, j] = low[left + 1, j] = tree.threshold[node]
        return low, high

    def leaf_of(self, X: Array) -> Array:
        """Index of the leaf of each row among the leaves; −1 outside the box (int32)."""
        rows = X if self.directions is None else self.directions.beside(X)
        place = np.cumsum(self.tree.feature < 0, dtype=np.int32) - 1
        leaf = place[self.tree.packed.leaves(rows)[0]].astype(np.int32)
        leaf[~self.box.contains(X)] = -1
        return leaf
