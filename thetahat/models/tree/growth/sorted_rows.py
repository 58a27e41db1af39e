"""Rows opened and sorted once, for many trees on them that differ in weights and in luck."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.foundation.types import Array
from thetahat.models.tree.growth.growing import sorted_columns
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.single import SingleTree


@dataclass(frozen=True)
class SortedRows:
    """What every tree on the same rows would find out for itself, in the same way."""

    opened: SingleTree
    """Knows the columns and the classes; never grown."""
    source: InMemory
    n_classes: tuple[int, ...]
    columns: _native.SortedColumns

    @classmethod
    def of(cls, learner: Any, X: Any, y: Array) -> SortedRows | None:
        """The rows for trees such as `learner`, or None where trees on them share nothing.

        Oblique directions and weights of classes are a tree's own, and a category that a tree does
        not see is none to it.
        """
        if not isinstance(learner, SingleTree) or learner.oblique:
            return None
        if getattr(learner, "class_weight", None) is not None:
            return None
        opened = clone(learner)
        source, n_classes = opened._opened(X, y)
        if opened._columns.is_categorical.any():
            return None
        columns = sorted_columns(source.X, ordered=learner.splitter == "best")
        return cls(opened, source, n_classes, columns)

    def grown(self, weight: Array, random_state: int) -> SingleTree:
        """A tree as ``fit(X, y, sample_weight=weight)`` would have grown it, bit for bit."""
        tree = copy(self.opened)
        tree.random_state = random_state
        weighted = replace(self.source, weight=weight, has_weight=True)
        tree._grow(weighted, self.n_classes, self.columns)
        return tree


def packed_alike(trees: list[Any]) -> PackedTrees | None:
    """All trees in one layout, or None where they do not read the same columns in the same way."""
    first = trees[0]
    if not all(
        isinstance(tree, SingleTree)
        and tree.n_outputs_ == 1
        and not tree.oblique
        and not tree._columns.is_categorical.any()
        and np.array_equal(tree.tree_.n_classes, first.tree_.n_classes)
        for tree in trees
    ):
        return None
    return PackedTrees.pack([tree.tree_ for tree in trees])
