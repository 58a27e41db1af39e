"""Rows opened and sorted once, for many trees with different weights and seeds."""

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
    """Preparations that are the same for every tree on the same rows."""

    opened: SingleTree
    """Estimator with the columns and the classes; it is never grown itself."""
    source: InMemory
    n_classes: tuple[int, ...]
    columns: _native.SortedColumns

    @classmethod
    def of(cls, learner: Any, X: Any, y: Array) -> SortedRows | None:
        """The rows for trees such as `learner`, or None if trees on them cannot share preparations.

        This is the case with oblique directions, class weights and categories, which depend on the
        rows of each tree.
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
        """The same tree, bit for bit, as ``fit(X, y, sample_weight=weight)`` would grow."""
        tree = copy(self.opened)
        tree.random_state = random_state
        weighted = replace(self.source, weight=weight, has_weight=True)
        tree._grow(weighted, self.n_classes, self.columns)
        return tree


def packed_alike(trees: list[Any]) -> PackedTrees | None:
    """All trees in one layout, or None if they do not read the same columns in the same way."""
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
