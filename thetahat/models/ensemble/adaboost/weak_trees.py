"""Trees as weak learners: the columns are sorted once and used in every iteration.

Stumps for two classes are grown faster still, on bins of the sorted columns
(``native/trees/stump``), with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.parameters import check_ranges
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.weak_learners import redrawn, reseeded
from thetahat.models.tree.classification import DecisionTreeClassifier
from thetahat.models.tree.growth.columns import TreeColumns
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.growth.growing import sorted_columns
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.structure import Tree

NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))
FREE = frozenset({"random_state", "categorical_features", "categorical_split"})
"""Parameters without effect on a stump of numeric columns."""


def shares_columns(estimator: Any) -> bool:
    """Whether trees of this kind can all grow on the same sorted columns."""
    return (
        isinstance(estimator, SingleTree)
        and not estimator.oblique
        and estimator.criterion != "poisson"
        and getattr(estimator, "class_weight", None) is None
    )


def is_stump(estimator: Any) -> bool:
    """Whether it is a plain decision stump for classification."""
    if type(estimator) is not DecisionTreeClassifier:
        return False
    plain = DecisionTreeClassifier(max_depth=1).get_params(deep=False)
    return all(getattr(estimator, name) == plain[name] for name in plain.keys() - FREE)


@dataclass(frozen=True)
class WeakTrees:
    """Callable that maps weights to a fitted clone of `estimator` and its predictions."""

    estimator: Any
    source: InMemory
    n_classes: tuple[int, ...]
    fitted: dict[str, Any]
    """Fitted attributes that all trees share, besides ``tree_``."""
    answer: Callable[[Array], Array]
    """Maps the values of nodes to predictions."""
    random: np.random.Generator
    resample: bool
    columns: _native.SortedColumns
    bins: _native.StumpBins | None

    @classmethod
    def on(
        cls,
        estimator: Any,
        source: InMemory,
        columns: TreeColumns,
        classes: Array | None,
        answer: Callable[[Array], Array],
        random: np.random.Generator,
        resample: bool,
    ) -> WeakTrees:
        """Sort the columns; for stumps, also group them into bins."""
        check_ranges(estimator)
        ready = sorted_columns(
            source.X, columns.is_categorical, ordered=estimator.splitter == "best"
        )
        fitted = {"_columns": columns, "n_features_in_": columns.n_features, "n_outputs_": 1}
        if columns.names:
            fitted["feature_names_in_"] = np.asarray(columns.names, dtype=object)
        n_classes: tuple[int, ...] = ()
        if classes is not None:
            n_classes = (len(classes),)
            fitted |= {"classes_": classes, "n_classes_": len(classes)}
        bins = None
        plain = not columns.categorical and not is_sparse(source.X)
        if n_classes == (2,) and is_stump(estimator) and plain:
            bins = _native.stump_bins(ready, np.asarray(source.y, dtype=np.uint8), n_threads())
        return cls(estimator, source, n_classes, fitted, answer, random, resample, ready, bins)

    def __call__(self, weight: Array) -> tuple[Any, Array]:
        learner = reseeded(clone(self.estimator), self.random)
        learner.__dict__.update(self.fitted)
        if self.resample:
            weight = redrawn(weight, self.random)
        if self.bins is None:
            learner._grow(replace(self.source, weight=weight), self.n_classes, self.columns)
            leaves = learner.tree_.apply(self.source.X)
        else:
            leaves = self._stump(learner, self.bins, weight)
        return learner, self.answer(learner.tree_.values)[leaves]

    def _stump(self, learner: Any, bins: _native.StumpBins, weight: Array) -> Array:
        """Grow ``tree_``; return the leaf of every row."""
        left = np.empty(weight.shape[0], dtype=np.uint8)
        parts = _native.grow_stump(self.columns, bins, weight, left, n_threads())
        n_features = self.columns.n_columns
        learner.tree_ = Tree(*parts, n_features=n_features, n_classes=self.n_classes)
        learner.max_features_, learner._directions = n_features, NO_DIRECTIONS
        return 2 - left if learner.tree_.node_count == 3 else left
