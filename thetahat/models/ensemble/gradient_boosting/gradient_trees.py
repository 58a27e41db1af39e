"""One tree fitted to gradients: least squares of −g/h with weights h, on binned columns.

gain = G_L²/(H_L + λ) + G_R²/(H_R + λ) − G²/(H + λ),    value of a leaf = −G/(H + λ)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.bins import Bins, Codes
from thetahat.data.on_disk.code_store import bins_of_rows, codes_by_row
from thetahat.data.row_pieces import StreamedRows
from thetahat.data.validation import is_sparse
from thetahat.foundation.memory import shortage_explained
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
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

    def of_columns(self, places: Array) -> TreeRules:
        """The rules for some of the columns."""
        return replace(
            self,
            monotonic=None if self.monotonic is None else self.monotonic[places],
            groups=None if self.groups is None else np.ascontiguousarray(self.groups[:, places]),
        )

    def arguments(self, n_features: int) -> tuple[Any, ...]:
        """The arguments of the compiled functions, from `max_leaves` on."""
        groups = self.groups
        return (
            self.max_leaves,
            self.max_depth,
            self.min_split,
            self.min_rows,
            self.min_hessian,
            self.min_gain,
            self.l2,
            self.rows_by_curvature,
            self.max_features,
            np.empty(0, dtype=np.int8) if self.monotonic is None else self.monotonic,
            np.empty((0, n_features), dtype=np.uint8) if groups is None else groups,
        )


@dataclass(frozen=True)
class SparseColumns:
    """Codes of the columns of sparse rows, without columns that no tree can split."""

    codes: _native.SparseCodes
    places: Array
    """Numbers of the columns that were kept."""
    n_features: int
    """Number of all columns."""


def binned(
    X: Matrix,
    weight: Array | None,
    rules: TreeRules,
    max_bins: int,
    categorical: Sequence[int] = (),
    n_categories: Mapping[int, int] | None = None,
) -> tuple[Codes | SparseColumns, Bins]:
    """Rows as codes, and their bins.

    `n_categories` has the number of categories by column, for rows that are read from a source;
    their codes are stored by row only. A side of a split needs a weight of `min_rows`. A sparse
    column whose entries have less than that is left out, as are empty columns; this changes no
    tree.
    """
    if isinstance(X, StreamedRows):
        known = {place: n_categories[place] for place in categorical} if n_categories else None
        bins = bins_of_rows(X, weight, max_bins=max_bins, n_categories=known)
        no_columns = np.empty((X.shape[1], 0), dtype=np.uint8)
        return Codes(codes_by_row(X, bins), no_columns), bins
    if not is_sparse(X):
        bins = Bins.learn(X, weight, max_bins=max_bins, categorical=categorical)
        return bins.codes(X), bins
    columns, d = X.tocsc(), X.shape[1]
    places = np.arange(d)
    if rules.max_features >= d:  # otherwise the columns of a node are drawn among all
        column = np.repeat(places, np.diff(columns.indptr))
        counted = np.ones(columns.nnz) if weight is None else weight[columns.indices]
        entries = np.bincount(column, weights=counted, minlength=d)
        least = 0.0 if rules.rows_by_curvature else rules.min_rows * (1.0 - 1e-9)
        places = np.flatnonzero((entries > 0.0) & (entries >= least))
        if not places.size:
            places = np.zeros(1, dtype=np.intp)
    kept = columns if places.size == d else columns[:, places]
    bins = Bins.learn(kept.tocsr(), weight, max_bins=max_bins)
    return SparseColumns(bins.sparse_codes(kept), places, d), bins


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
    codes: Codes | SparseColumns,
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
    if isinstance(codes, SparseColumns):
        cells: tuple[Any, ...] = (codes.codes,)
        rules = rules.of_columns(codes.places)
    else:
        cells = (codes.by_row, codes.by_column)
    with shortage_explained(*_need(slope.shape[0], d, rules.max_leaves)):
        arrays, order, nodes, bounds = _native.grow_gradient_tree(
            *cells,
            *bins.flat_cuts,
            *bins.flat_categories,
            rows,
            slope,
            NO_NUMBERS if curvature is None else curvature,
            NO_NUMBERS if weight is None else weight,
            *rules.arguments(d),
            seed,
            n_threads(),
        )
    leaves = Leaves(order, nodes, bounds)
    if not isinstance(codes, SparseColumns):
        return Tree(*arrays, n_features=d), leaves
    feature = np.where(arrays[0] < 0, arrays[0], codes.places[np.maximum(arrays[0], 0)])
    feature = feature.astype(np.int32)
    return Tree(feature, *arrays[1:], n_features=codes.n_features), leaves


def _need(n: int, d: int, max_leaves: int) -> tuple[int, str, str]:
    """Rows with their gradients, twice, and a histogram of 256 bins per column and open leaf."""
    return (
        48 * n + 4096 * d * min(int(max_leaves), n),
        f"Growing a tree of up to {max_leaves} leaves on {n} × {d} numbers",
        "Use fewer leaves (max_leaf_nodes, max_depth), rows or columns.",
    )


def with_leaf_values(tree: Tree, leaves: Array, values: Array) -> Tree:
    """The tree with other values at the leaves, whose nodes are given."""
    changed = tree.values.copy()
    changed[leaves, 0] = values
    return tree.with_valid(values=changed)
