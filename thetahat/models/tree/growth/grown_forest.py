"""Compact storage of the trees of a forest.

A node takes 16 bytes. Each leaf keeps its number of rows, their weight and (for regression) their
impurity; pure leaves of one class share their values. The properties of inner nodes follow from
their leaves and are computed when a tree is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import CATEGORICAL, MISSING_LEFT, NODE, PackedTrees
from thetahat.models.tree.structure import LEAF, UNDEFINED, Tree

GAIN = np.dtype([("gain", "f8"), ("tree", "i4"), ("column", "i4")])
"""The total gain of the splits of one tree on one column."""
OF_CLASSES = ("gini", "entropy", "log_loss", "error")
"""The criteria of classification."""


@dataclass(frozen=True)
class GrownForest(CheckedValue):
    """Trees one after the other; leaves in the order of their nodes."""

    packed: PackedTrees
    seeds: Array
    """Seed of each tree (uint64)."""
    gains: Array
    """Gains of the columns that each tree uses (structured, `GAIN`); empty if splits have none."""
    leaf_counts: Array
    leaf_weights: Array
    leaf_impurities: Array
    """Empty for classification, where the proportions determine them."""
    criterion: str
    n_outputs: int
    n_classes: tuple[int, ...]
    """Classes per output; 1 for regression."""
    whole_trees: tuple[Tree, ...] = ()
    """Complete trees, for medians, where inner nodes do not follow from their leaves."""

    def __post_init__(self) -> None:
        packed = self.packed
        check_rule(self, isinstance(packed, PackedTrees), "packed must be PackedTrees")
        n_leaves = int(np.count_nonzero(packed.nodes["feature"] < 0))
        of_leaves = {
            name: (_native_kind(getattr(self, name)), (n_leaves,))
            for name in ("leaf_counts", "leaf_weights")
        }
        n_impurities = 0 if np.size(self.leaf_impurities) == 0 else n_leaves
        if np.ndim(self.gains) == 2:  # files of earlier versions hold gains of all columns
            shape = (len(self.gains) and packed.n_trees, packed.n_features)
            check_arrays(self, {"gains": (np.float64, shape)})
            object.__setattr__(self, "gains", used_gains(self.gains))
        check_arrays(
            self,
            {
                "seeds": (np.uint64, (packed.n_trees,)),
                "gains": (GAIN, (None,)),
                "leaf_impurities": (np.float64, (n_impurities,)),
                **of_leaves,
            },
        )
        for name, end in (("tree", packed.n_trees), ("column", packed.n_features)):
            inside = (self.gains[name] >= 0) & (self.gains[name] < end)
            check_rule(self, bool(inside.all()), f"gains must be of {name}s from 0 to {end - 1}")
        width = self.n_outputs * max(self.n_classes)
        check_rule(
            self,
            packed.values.shape[1] == width,
            f"a leaf must hold {width} values, not {packed.values.shape[1]}",
        )
        check_rule(
            self,
            len(self.whole_trees) in (0, packed.n_trees),
            f"{len(self.whole_trees)} complete trees are stored for {packed.n_trees} trees",
        )

    @classmethod
    def empty(
        cls, criterion: str, n_outputs: int, n_classes: tuple[int, ...], n_features: int
    ) -> GrownForest:
        """A forest without trees. For one output, the values of pure leaves come first."""
        width = n_outputs * max(n_classes)
        shares = criterion in OF_CLASSES and n_outputs == 1
        shared = np.eye(width) if shares else np.empty((0, width))
        none = np.empty(0)
        packed = PackedTrees(
            nodes=np.empty(0, dtype=NODE),
            roots=np.zeros(1, dtype=np.int64),
            values=shared,
            sets=np.empty((0, 0), dtype=np.uint32),
            n_features=n_features,
        )
        return cls(
            packed=packed,
            seeds=np.empty(0, dtype=np.uint64),
            gains=np.empty(0, dtype=GAIN),
            leaf_counts=none.astype(np.uint8),
            leaf_weights=none.astype(np.uint8),
            leaf_impurities=none,
            criterion=criterion,
            n_outputs=n_outputs,
            n_classes=n_classes,
        )

    def __len__(self) -> int:
        return self.packed.n_trees

    def extended(self, batches: Sequence[tuple[Array, ...]], seeds: Array) -> GrownForest:
        """The forest with further trees as returned by `_native.grow_forest`."""
        if not batches:
            return self
        nodes, sizes, values, sets, counts, weights, impurities, gains = zip(*batches, strict=True)
        n_trees = [len(self), *(len(part) for part in sizes)]
        starts = self.packed.roots[-1] + np.cumsum(np.concatenate(sizes))
        packed = PackedTrees(
            nodes=np.concatenate([self.packed.nodes, *(part.view(NODE)[:, 0] for part in nodes)]),
            roots=np.concatenate([self.packed.roots, starts]),
            values=np.concatenate([self.packed.values, *values]),
            sets=_stacked([self.packed.sets, *sets]),
            n_features=self.packed.n_features,
        )
        return replace(
            self,
            packed=packed,
            seeds=np.concatenate([self.seeds, seeds]),
            gains=_in_turn([self.gains, *(part.view(GAIN)[:, 0] for part in gains)], n_trees),
            leaf_counts=narrowest(np.concatenate([self.leaf_counts, *counts])),
            leaf_weights=narrowest(np.concatenate([self.leaf_weights, *weights])),
            leaf_impurities=np.concatenate([self.leaf_impurities, *impurities]),
        )

    def of_trees(self, trees: Sequence[Tree], seeds: Array) -> GrownForest:
        """A forest of the same kind with other trees, for example pruned ones."""
        leaves = [tree.feature < 0 for tree in trees]
        regression = self.criterion not in OF_CLASSES
        follows = self.criterion != "absolute_error"
        return replace(
            self,
            packed=PackedTrees.pack(trees),
            seeds=seeds,
            gains=_in_turn(
                [
                    used_gains(tree.compute_feature_importances(normalize=False)[None])
                    for tree in trees
                ],
                [1] * len(trees),
            ),
            leaf_counts=narrowest(_joined(trees, leaves, "count")),
            leaf_weights=narrowest(_joined(trees, leaves, "weight")),
            leaf_impurities=_joined(trees, leaves, "impurity") if regression else np.empty(0),
            whole_trees=() if follows else tuple(trees),
        )

    def followed_by(self, other: GrownForest) -> GrownForest:
        """The trees of both forests, which must be of the same kind."""
        if not len(self):
            return other
        nodes = renumbered(
            other.packed.nodes, 0, self.packed.values.shape[0], len(self.packed.sets)
        )
        later = other.packed.roots[1:] + self.packed.roots[-1]
        packed = replace(
            self.packed,
            nodes=np.concatenate([self.packed.nodes, nodes]),
            roots=np.concatenate([self.packed.roots, later]),
            values=np.concatenate([self.packed.values, other.packed.values]),
            sets=_stacked([self.packed.sets, other.packed.sets]),
        )
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("seeds", "leaf_counts", "leaf_weights", "leaf_impurities")
        }
        joined["gains"] = _in_turn([self.gains, other.gains], [len(self), len(other)])
        trees = (*self.whole_trees, *other.whole_trees)
        return replace(self, packed=packed, whole_trees=trees, **joined)

    @property
    def feature_importances(self) -> Array:
        """Share of each column in the gain of a tree, averaged over the trees."""
        gain, tree, column = (self.gains[name] for name in GAIN.names or ())
        totals = np.bincount(tree, gain, len(self))
        useful = totals[tree] > 0
        shares = gain[useful] / totals[tree[useful]]
        sums = np.bincount(column[useful], shares, self.packed.n_features)
        return sums / sums.sum() if useful.any() else sums

    @property
    def voting(self) -> PackedTrees:
        """The trees with a 1 for the majority class of each leaf, the first in case of ties."""
        shares = self.packed.values.reshape(-1, self.n_outputs, max(self.n_classes))
        votes = np.zeros_like(shares)
        np.put_along_axis(votes, shares.argmax(axis=2)[:, :, None], 1.0, axis=2)
        return self.packed.with_values(votes.reshape(self.packed.values.shape))

    def tree(self, number: int) -> Tree:
        """One tree with all properties of its nodes. Cost: O(nodes)."""
        if self.whole_trees:
            return self.whole_trees[number]
        packed = self.packed
        nodes = packed.nodes[packed.roots[number] : packed.roots[number + 1]]
        is_leaf = nodes["feature"] < 0
        categorical = ~is_leaf & (nodes["feature"] & CATEGORICAL != 0)
        left = np.where(is_leaf, LEAF, nodes["child"]).astype(np.int32)
        first = int(np.count_nonzero(packed.nodes["feature"][: packed.roots[number]] < 0))
        own = slice(first, first + int(np.count_nonzero(is_leaf)))

        n_nodes = nodes.shape[0]
        count, weight = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes)
        impurity = np.zeros(n_nodes)
        values = np.zeros((n_nodes, packed.values.shape[1]))
        count[is_leaf], weight[is_leaf] = self.leaf_counts[own], self.leaf_weights[own]
        values[is_leaf] = packed.values[nodes["child"][is_leaf]]
        if self.leaf_impurities.size:
            impurity[is_leaf] = self.leaf_impurities[own]
        known = impurity if self.leaf_impurities.size else np.empty(0)
        _native.complete_inner_nodes(
            left, count, weight, known, values, self.criterion == "poisson"
        )
        if not self.leaf_impurities.size:
            impurity = self._impurity_of_shares(values)
        gain = np.zeros(n_nodes)
        inner = np.flatnonzero(~is_leaf)
        with np.errstate(over="ignore", invalid="ignore"):  # impurities of huge targets overflow
            spread = weight * impurity / weight[0]
            below = spread[left[inner]] + spread[left[inner] + 1]
            gain[inner] = np.fmax(0.0, spread[inner] - below)
        sets = np.where(categorical, nodes["threshold"], LEAF).astype(np.int32)
        used = np.unique(sets[categorical])
        return Tree(
            feature=np.where(is_leaf, UNDEFINED, nodes["feature"] & (CATEGORICAL - 1)).astype(
                np.int32
            ),
            left=left,
            threshold=np.select([is_leaf, categorical], [UNDEFINED, 0.0], nodes["threshold"]),
            missing_left=(~is_leaf & (nodes["feature"] & MISSING_LEFT != 0)).astype(np.uint8),
            category_set=np.where(categorical, np.searchsorted(used, sets), LEAF).astype(np.int32),
            gain=gain,
            impurity=impurity,
            weight=weight,
            count=count,
            values=values,
            category_sets=packed.sets[used],
            n_features=packed.n_features,
            n_outputs=self.n_outputs,
            n_classes=self.n_classes,
        )

    def _impurity_of_shares(self, values: Array) -> Array:
        shares = values.reshape(values.shape[0], self.n_outputs, -1)
        if self.criterion == "gini":
            impurity = 1.0 - (shares * shares).sum(axis=2)
        elif self.criterion == "error":
            impurity = 1.0 - shares.max(axis=2)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                impurity = -np.where(shares > 0, shares * np.log2(shares), 0.0).sum(axis=2)
        return np.maximum(0.0, impurity).mean(axis=1)


def _native_kind(numbers: Any) -> np.dtype[Any]:
    """The dtype of an array in native byte order."""
    return np.asarray(numbers).dtype.newbyteorder("=")


def narrowest(numbers: Array) -> Array:
    """The same numbers in the smallest type that represents each of them exactly."""
    for dtype in (np.uint8, np.uint16, np.uint32, np.float32):
        if numbers.dtype == dtype:
            return numbers
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = numbers.astype(dtype)
        if np.array_equal(narrow, numbers):
            return narrow
    return numbers


def used_gains(gains: Array) -> Array:
    """The gains of all columns, (n_trees, d), as those of the columns in use."""
    tree, column = np.nonzero(gains)
    found = np.empty(len(tree), dtype=GAIN)
    found["gain"], found["tree"], found["column"] = gains[tree, column], tree, column
    return found


def _in_turn(parts: Sequence[Array], n_trees: Sequence[int]) -> Array:
    """Gains of several forests as those of one, with the trees in their turn."""
    found = np.concatenate(parts)
    before = np.cumsum([0, *n_trees[:-1]])
    found["tree"] += np.repeat(before, [len(part) for part in parts]).astype(np.int32)
    return found


def _joined(trees: Sequence[Tree], leaves: Sequence[Array], name: str) -> Array:
    return np.concatenate([getattr(tree, name)[at] for tree, at in zip(trees, leaves, strict=True)])


def _stacked(sets: Sequence[Array]) -> Array:
    """Category sets stacked vertically, padded to the widest."""
    words = max(part.shape[1] for part in sets)
    return np.concatenate([np.pad(part, ((0, 0), (0, words - part.shape[1]))) for part in sets])


def renumbered(nodes: Array, first: int, values: int, sets: int) -> Array:
    """Nodes whose values, from number `first` on, and sets come after so many others."""
    nodes = nodes.copy()
    is_leaf = nodes["feature"] < 0
    nodes["child"][is_leaf & (nodes["child"] >= first)] += values
    nodes["threshold"][~is_leaf & (nodes["feature"] & CATEGORICAL != 0)] += sets
    return nodes
