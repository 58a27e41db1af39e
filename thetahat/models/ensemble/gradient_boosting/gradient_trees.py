"""One tree fitted to gradients: least squares of −g/h with weights h, on binned columns.

gain = G_L²/(H_L + λ) + G_R²/(H_R + λ) − G²/(H + λ),    value of a leaf = −G/(H + λ)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.data.bins import Bins, Codes
from thetahat.foundation.memory import shortage_explained
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.tree.structure import Tree

NO_ROWS = np.empty(0, dtype=np.uint32)
NO_NUMBERS = np.empty(0)
NO_LIMIT = (1 << 31) - 1


@dataclass(frozen=True)
class TreeRules:
    """Limits on the growth of a tree."""

    max_leaves: int = NO_LIMIT
    max_depth: int = NO_LIMIT
    min_split: float = 2.0
    """Minimum weight of a node to be split."""
    min_rows: float = 1.0
    """Minimum weight of a leaf."""
    min_hessian: float = 0.0
    min_gain: float = 0.0
    l2: float = 0.0
    rows_by_curvature: bool = False
    """Whether `min_rows` counts a row by its curvature, divided by the mean of the node."""
    max_features: int = NO_LIMIT
    """Number of columns considered for each split, drawn for every node."""
    monotonic: Array | None = None
    """−1, 0 or +1 per column (int8)."""
    groups: Array | None = None
    """Columns that may be used on one path: one row per group (uint8, n_groups × d)."""


@dataclass(frozen=True)
class Leaves:
    """Rows of every leaf, ascending: `order[bounds[k]:bounds[k + 1]]` of node `nodes[k]`."""

    order: Array
    nodes: Array
    bounds: Array

    @property
    def of_rows(self) -> Array:
        """Index k of the leaf of each row in `order`."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.bounds))

    def add(self, values: Array, raw: Array, column: int) -> None:
        """raw[i, column] += values[k] for the rows i of each leaf k."""
        _native.add_to_leaves(self.order, self.bounds, values, raw, column, n_threads())

    def quantiles(self, values: Array, weight: Array | None, level: float) -> Array:
        """Weighted quantile of `values` within each leaf."""
        out = np.empty(len(self.nodes))
        held = NO_NUMBERS if weight is None else weight
        _native.leaf_quantiles(self.order, self.bounds, values, held, level, out, n_threads())
        return out

    def huber_constants(self, values: Array, weight: Array | None, delta: float) -> Array:
        """Constant with the smallest Huber loss within each leaf."""
        out = np.empty(len(self.nodes))
        held = NO_NUMBERS if weight is None else weight
        _native.leaf_hubers(self.order, self.bounds, values, held, delta, out, n_threads())
        return out


def grow_tree(
    codes: Codes,
    bins: Bins,
    slope: Array,
    curvature: Array | None,
    weight: Array | None,
    rules: TreeRules,
    *,
    rows: Array = NO_ROWS,
    seed: int = 0,
) -> tuple[Tree, Leaves]:
    """Grow a tree; return it with the rows of its leaves. Cost: O(n·d) for each level.

    Without `curvature`, the curvature of every row is 1. `rows` (uint32, ascending) restricts the
    fit to some rows.
    """
    d = bins.n_features
    groups = np.empty((0, d), dtype=np.uint8) if rules.groups is None else rules.groups
    monotonic = np.empty(0, dtype=np.int8) if rules.monotonic is None else rules.monotonic
    with shortage_explained(*_need(slope.shape[0], d, rules.max_leaves)):
        arrays, order, nodes, bounds = _native.grow_gradient_tree(
            codes.by_row,
            codes.by_column,
            *bins.flat_cuts,
            *bins.flat_categories,
            rows,
            slope,
            NO_NUMBERS if curvature is None else curvature,
            NO_NUMBERS if weight is None else weight,
            rules.max_leaves,
            rules.max_depth,
            rules.min_split,
            rules.min_rows,
            rules.min_hessian,
            rules.min_gain,
            rules.l2,
            rules.rows_by_curvature,
            rules.max_features,
            monotonic,
            groups,
            seed,
            n_threads(),
        )
    return Tree(*arrays, n_features=d), Leaves(order, nodes, bounds)


def _need(n: int, d: int, max_leaves: int) -> tuple[int, str, str]:
    """Rows with their gradients, twice, and a histogram of 256 bins per column and open leaf."""
    return (
        48 * n + 4096 * d * min(max_leaves, n),
        f"Growing a tree of up to {max_leaves} leaves on {n} × {d} numbers",
        "Use fewer leaves (max_leaf_nodes, max_depth), rows or columns.",
    )


def with_leaf_values(tree: Tree, leaves: Leaves, values: Array) -> Tree:
    """The tree with other leaf values, in the order of `leaves`."""
    changed = tree.values.copy()
    changed[leaves.nodes, 0] = values
    return replace(tree, values=changed)
