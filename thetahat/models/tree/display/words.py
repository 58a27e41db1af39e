"""Names of the columns, categories and classes of a tree, and the conditions of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.models.tree.structure import Tree

MOST_CATEGORIES = 6
"""Maximum number of categories listed in a condition."""


@dataclass(frozen=True)
class Words:
    """Names used to describe a tree."""

    tree: Tree
    names: tuple[str, ...]
    """Names of the columns, followed by those of the oblique directions."""
    classes: tuple[str, ...] = ()
    """Names of the classes; empty for regression."""
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """Values of the columns that are stored as codes."""
    impurity: str = "impurity"
    answer: str = "value"
    """Label of the value of a node."""
    formulas: dict[int, str] = field(default_factory=dict)
    """Formula of each oblique direction, by its number in `names`."""

    @classmethod
    def of(cls, model: Any, feature_names: Any = None, class_names: Any = None) -> Words:
        """Names for a grown tree, or for an estimator that contains one."""
        tree = tree_of(model)
        columns = getattr(model, "_columns", None)
        names = feature_names
        if names is None:
            names = getattr(model, "feature_names_in_", None)
        n_columns = getattr(model, "n_features_in_", tree.n_features)
        if names is None:
            names = [f"feature_{j}" for j in range(n_columns)]
        if len(names) != n_columns:
            raise ParameterError(
                f"feature_names must contain {n_columns} elements, got {len(names)}. Use one name "
                "per column."
            )
        oblique = [f"direction_{k}" for k in range(tree.n_features - n_columns)]
        named = tuple(map(str, names))
        return cls(
            tree=tree,
            names=(*named, *oblique),
            formulas=_formulas(model, named),
            classes=_class_names(tree, model, class_names),
            levels={} if columns is None else columns.levels,
            impurity=str(getattr(model, "criterion", "impurity")),
            answer="log density" if hasattr(model, "log_density") else "value",
        )

    def sides(self, node: int, decimals: int = 2) -> tuple[str, str]:
        """Conditions of the rows that go left and of those that go right."""
        tree, column = self.tree, int(self.tree.feature[node])
        name = self.names[column]
        if tree.category_set[node] >= 0:
            left, right = self._categories(node)
            return f"{name} in {_listed(left)}", f"{name} in {_listed(right)}"
        threshold = float(tree.threshold[node])
        if threshold == np.inf:
            return f"{name} is known", f"{name} is missing"
        if column in self.levels:
            ordered = self.levels[column]
            place = int(np.clip(np.floor(threshold), 0, len(ordered) - 1))
            return f"{name} <= {ordered[place]}", f"{name} >  {ordered[place]}"
        return f"{name} <= {threshold:.{decimals}f}", f"{name} >  {threshold:.{decimals}f}"

    def _categories(self, node: int) -> tuple[list[Any], list[Any]]:
        """The categories that go left, and the others."""
        tree, column = self.tree, int(self.tree.feature[node])
        words = tree.category_sets[tree.category_set[node]]
        levels = self.levels.get(column, range(32 * words.size))
        left: list[Any] = []
        right: list[Any] = []
        for code, level in enumerate(levels):
            inside = code // 32 < words.size and int(words[code // 32]) >> (code % 32) & 1
            (left if inside else right).append(level)
        return left, right

    def left_categories(self, node: int) -> frozenset[Any]:
        """The categories that a split sends left."""
        return frozenset(self._categories(node)[0])

    def all_categories(self, node: int) -> frozenset[Any]:
        """The categories of the column of a split."""
        left, right = self._categories(node)
        return frozenset(left + right)

    def majority(self, node: int) -> str:
        """The majority class of a node, for one output."""
        return self.classes[int(np.argmax(self.tree.value[node, 0]))]


def _formulas(model: Any, names: tuple[str, ...]) -> dict[int, str]:
    """Oblique directions as sums of columns with their coefficients."""
    directions = getattr(model, "directions_", ())
    offsets = getattr(model, "direction_offsets_", np.zeros(len(directions)))
    found = {}
    for number, (row, offset) in enumerate(zip(directions, offsets, strict=True), len(names)):
        terms = [f"{row[j]:+.4g}*{names[j]}" for j in np.flatnonzero(row)]
        terms += [f"{offset:+.4g}"] if offset else []
        words = " ".join(f"{term[0]} {term[1:]}" for term in terms)
        found[number] = words.removeprefix("+ ").replace("- ", "-", 1 if words[0] == "-" else 0)
    return found


def tree_of(model: Any) -> Tree:
    """The grown tree that a model is, or that it contains."""
    if isinstance(model, Tree):
        return model
    if hasattr(model, "fit"):
        check_is_fitted(model)
    tree = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    kind = type(model)
    if kind.__module__.startswith("sklearn."):
        raise CapabilityError(
            f"This {kind.__name__} is a model of scikit-learn. Use the function of the same name "
            f"in sklearn.tree, or fit th.{kind.__name__}."
        )
    has_members = hasattr(model, "estimators_")
    nested = has_members and getattr(model.estimators_, "ndim", 1) > 1  # one column per class
    member = "model.estimators_[0, 0]" if nested else "model.estimators_[0]"
    remedy = member if has_members else "a DecisionTreeClassifier or -Regressor"
    raise CapabilityError(
        f"A {kind.__name__} is not a single tree, so that it cannot be shown as one. Use {remedy}."
    )


def _class_names(tree: Tree, model: Any, given: Any) -> tuple[str, ...]:
    if tree.max_n_classes == 1 or tree.n_outputs > 1:
        return ()
    names: Sequence[Any] = range(tree.max_n_classes)
    if given is None or given is True:
        names = getattr(model, "classes_", names)
    else:
        names = given
    if len(names) < tree.max_n_classes:
        raise ParameterError(
            f"class_names must contain {tree.max_n_classes} elements, got {len(names)}. Use one "
            "name per class, in the order of classes_."
        )
    return tuple(map(str, names))


def _listed(categories: list[Any]) -> str:
    shown = [str(category) for category in categories[:MOST_CATEGORIES]]
    more = len(categories) - len(shown)
    return "{" + ", ".join(shown + ([f"{more} more"] if more else [])) + "}"
