"""Trees in the layout used for prediction: 16 bytes per node, and one row of values per leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from thetahat import _native
from thetahat.data.row_pieces import RowPieces
from thetahat.data.validation import is_sparse
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.sparse_rows import dense_blocks

NODE = np.dtype([("threshold", "f8"), ("feature", "i4"), ("child", "i4")])
"""A node. Its children are `child` and `child` + 1; a leaf has feature −1, and `child` is its row
in the values."""
MISSING_LEFT = 1 << 30
CATEGORICAL = 1 << 29

ROWS_PER_THREAD = 2048
"""Minimum number of rows per thread; starting more threads costs more than it saves."""


class TreeArrays(Protocol):
    """A tree as arrays with one entry per node, the input of `pack`."""

    @property
    def feature(self) -> Array: ...
    @property
    def threshold(self) -> Array: ...
    @property
    def left(self) -> Array: ...
    @property
    def missing_left(self) -> Array: ...
    @property
    def category_set(self) -> Array: ...
    @property
    def category_sets(self) -> Array: ...
    @property
    def values(self) -> Array: ...
    @property
    def n_features(self) -> int: ...
    @property
    def node_count(self) -> int: ...


@dataclass(frozen=True)
class PackedTrees(CheckedValue):
    """Several trees one after another; validated when created, so that no walk can leave them."""

    nodes: Array
    """Their nodes, numbered within each tree (structured, `NODE`)."""
    roots: Array
    """Where each tree begins, and the number of nodes (int64, n_trees + 1)."""
    values: Array
    """One row of numbers per leaf (float64)."""
    sets: Array
    """The category sets, one bit per code that goes left (uint32, n_sets × words)."""
    n_features: int

    def __post_init__(self) -> None:
        check_arrays(
            self,
            {
                "nodes": (NODE, (None,)),
                "roots": (np.int64, (None,)),
                "values": (np.float64, (None, None)),
                "sets": (np.uint32, (None, None)),
            },
        )
        try:
            _native.check_trees(
                self._bytes, self.roots, self.sets, self.values.shape[0], self.n_features
            )
        except (ValueError, TypeError) as failure:
            check_rule(self, False, str(failure).splitlines()[0])

    @property
    def n_trees(self) -> int:
        return int(self.roots.shape[0]) - 1

    @property
    def _bytes(self) -> Array:
        return self.nodes.view(np.uint8).reshape(-1, NODE.itemsize)

    @classmethod
    def pack(cls, trees: Sequence[TreeArrays]) -> PackedTrees:
        """Combine trees over the same columns and with values of the same width."""
        sizes = [tree.node_count for tree in trees]
        roots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes = np.empty(int(roots[-1]), dtype=NODE)
        words = max((tree.category_sets.shape[1] for tree in trees), default=0)
        n_leaves = n_sets = 0
        values, sets = [], []
        for tree, start, end in zip(trees, roots, roots[1:], strict=False):
            place = nodes[start:end]
            is_leaf = tree.feature < 0
            categorical = tree.category_set >= 0
            flags = np.where(tree.missing_left, MISSING_LEFT, 0)
            flags = flags + np.where(categorical, CATEGORICAL, 0)
            place["feature"] = np.where(is_leaf, -1, tree.feature + flags)
            place["child"] = np.where(is_leaf, n_leaves + np.cumsum(is_leaf) - 1, tree.left)
            place["threshold"] = np.where(categorical, tree.category_set + n_sets, tree.threshold)
            values.append(tree.values[is_leaf])
            wide = np.zeros((tree.category_sets.shape[0], words), dtype=np.uint32)
            wide[:, : tree.category_sets.shape[1]] = tree.category_sets
            sets.append(wide)
            n_leaves += values[-1].shape[0]
            n_sets += wide.shape[0]
        return cls(
            nodes=nodes,
            roots=roots,
            values=np.concatenate(values),
            sets=np.concatenate(sets),
            n_features=trees[0].n_features,
        )

    def _blocks(self, X: Matrix) -> Iterator[tuple[PackedTrees, slice, Array]]:
        """Sparse rows as dense blocks of the columns that the trees use, and the trees on them."""
        trees, places = self._on_used_columns
        for part, rows in dense_blocks(X, places, trees.n_features):
            yield trees, part, rows

    @cached_property
    def _on_used_columns(self) -> tuple[PackedTrees, Array]:
        """The trees over the columns that they use alone, and the place of each column there."""
        inner = self.nodes["feature"] >= 0
        features = self.nodes["feature"][inner]
        columns = features & (CATEGORICAL - 1)
        used = np.unique(columns) if columns.size else np.zeros(1, dtype=columns.dtype)
        places = np.full(self.n_features, -1, dtype=np.int32)
        places[used] = np.arange(len(used))
        nodes = self.nodes.copy()
        nodes["feature"][inner] = places[columns] | (features - columns)
        return replace(self, nodes=nodes, n_features=len(used)), places

    def sum(self, X: Matrix, out: Array | None = None, n_columns: int | None = None) -> Array:
        """Sum over the trees of the leaf values of each row, (n, width), added to `out`.

        With `n_columns` and one number per leaf, tree t adds to column t mod n_columns.
        """
        if out is None:
            out = np.zeros((X.shape[0], n_columns or self.values.shape[1]))
        if isinstance(X, RowPieces):
            for part, block in X.pieces():
                self.sum(block, out[part], n_columns)
            return out
        if is_sparse(X):
            for trees, part, block in self._blocks(X):
                trees.sum(block, out[part])
            return out
        rows = np.ascontiguousarray(X)
        threads = min(n_threads(), 1 + rows.shape[0] // ROWS_PER_THREAD)
        _native.sum_of_trees(
            rows, self._bytes, self.roots, self.sets, self.values, out, self.n_features, threads
        )
        return out

    def shapley(self, X: Matrix, weights: Array, n_columns: int) -> tuple[Array, Array]:
        """Shapley values of the columns, (n, d, n_columns), and the mean predictions (n_columns,).

        Their sum over the columns and the mean is `sum`. `weights` holds the training weight of
        each leaf in the place of its node. Columns that are not known are averaged over by the
        weights of the training rows at each split.
        """
        rows = np.ascontiguousarray(X.toarray() if is_sparse(X) else X)
        found = np.zeros((*rows.shape, n_columns))
        base = np.zeros(n_columns)
        _native.shapley_of_trees(
            rows,
            self._bytes,
            self.roots,
            self.sets,
            self.values,
            np.ascontiguousarray(weights, dtype=np.float64),
            found,
            base,
            self.n_features,
            n_threads(),
        )
        return found, base

    def sum_out_of_bag(self, X: Matrix, grown_on: Array, out: Array, votes: Array) -> None:
        """Like `sum`, only for the out-of-bag rows of each tree; `votes` counts the trees.

        `grown_on` (n_trees, n) is 0 for the out-of-bag rows (uint8).
        """
        if isinstance(X, RowPieces):
            for part, block in X.pieces():
                known = np.ascontiguousarray(grown_on[:, part])
                self.sum_out_of_bag(block, known, out[part], votes[part])
            return
        if is_sparse(X):
            for trees, part, block in self._blocks(X):
                known = np.ascontiguousarray(grown_on[:, part])
                trees.sum_out_of_bag(block, known, out[part], votes[part])
            return
        rows = np.ascontiguousarray(X)
        threads = min(n_threads(), 1 + rows.shape[0] // ROWS_PER_THREAD)
        _native.sum_out_of_bag(
            rows,
            self._bytes,
            self.roots,
            self.sets,
            self.values,
            grown_on,
            out,
            votes,
            self.n_features,
            threads,
        )

    def with_values(self, values: Array) -> PackedTrees:
        """The same trees with other leaf values, (n_values, any width); the memory is shared."""
        if values.shape[0] != self.values.shape[0]:
            raise ValueError(f"{values.shape[0]} rows of values for {self.values.shape[0]}")
        return self.with_valid(values=values)

    def some(self, start: int, stop: int) -> PackedTrees:
        """The trees from `start` up to `stop`; the memory is shared."""
        first, last = self.roots[start], self.roots[stop]
        return replace(
            self, nodes=self.nodes[first:last], roots=self.roots[start : stop + 1] - first
        )

    def each(self, X: Matrix) -> Array:
        """Leaf values of each row in each tree, (n_trees, n, width)."""
        places = self.leaves(X).astype(np.int64) + self.roots[:-1, None]
        return self.values[self.nodes["child"][places]]

    def leaves(self, X: Matrix) -> Array:
        """Number of the leaf of each row within each tree, (n_trees, n) (int32)."""
        out = np.empty((self.n_trees, X.shape[0]), dtype=np.int32)
        if isinstance(X, RowPieces):
            for part, block in X.pieces():
                out[:, part] = self.leaves(block)
            return out
        if is_sparse(X):
            for trees, part, block in self._blocks(X):
                out[:, part] = trees.leaves(block)
            return out
        rows = np.ascontiguousarray(X)
        threads = min(n_threads(), 1 + rows.shape[0] // ROWS_PER_THREAD)
        _native.leaves_of_trees(
            rows, self._bytes, self.roots, self.sets, out, self.n_features, threads
        )
        return out
