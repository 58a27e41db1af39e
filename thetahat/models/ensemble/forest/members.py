"""The trees of a forest as estimators, created on access, and a forest of given estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.models.ensemble.last_fit import LastFit
from thetahat.models.tree.growth.grown_forest import GrownForest
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.structure import Tree

SHARED = (
    "n_features_in_",
    "feature_names_in_",
    "n_outputs_",
    "classes_",
    "n_classes_",
    "_columns",
)
"""Fitted attributes that a tree shares with its forest."""


class ForestMembers(Sequence[Any]):
    """Behaves like a list of fitted trees; each access creates one, and nothing is kept."""

    def __init__(self, forest: GrownForest, make: Callable[[int], Any]) -> None:
        self._forest, self._make = forest, make

    def __len__(self) -> int:
        return len(self._forest)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return [self._make(number) for number in numbers]
        return self._make(numbers)

    def __add__(self, others: Sequence[Any]) -> list[Any]:
        return [*self, *others]

    def __radd__(self, others: Sequence[Any]) -> list[Any]:
        return [*others, *self]

    def __repr__(self) -> str:
        return f"<{len(self)} trees, created on access>"


def forest_of(model: Any, members: Sequence[Any]) -> GrownForest:
    """The trees of a forest replaced by others, which must have its columns and classes."""
    who, known = type(model).__name__, LastFit.known(model)
    if not len(members):
        raise ParameterError(
            f"{who}: estimators_=[] must hold at least one fitted tree. Keep one of its trees."
        )
    for place, member in enumerate(members):
        tree = getattr(member, "tree_", None)
        if (
            not isinstance(member, SingleTree)
            or not isinstance(tree, Tree)
            or (tree.n_outputs, tree.n_classes, tree.n_features)
            != (model._forest.n_outputs, model._forest.n_classes, model.n_features_in_)
            or LastFit.known(member) != known
        ):
            raise ParameterError(
                f"{who}: estimators_[{place}]={member!r} must be a fitted tree of thetahat without "
                f"oblique splits, with the columns, outputs and classes of this {who}. Fit it to "
                "rows with the same columns and classes."
            )
    seeds = [getattr(member, "random_state", None) for member in members]
    numbers = [int(seed) if isinstance(seed, int | np.integer) else 0 for seed in seeds]
    trees = [member.tree_ for member in members]
    return model._forest.of_trees(trees, np.array(numbers, dtype=np.uint64))
