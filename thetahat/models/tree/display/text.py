"""A tree as indented text."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.tree.display.words import Words


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    missing: bool = False,
) -> str:
    """Write a tree as text, one line per question and per answer.

    Two lines per inner node, x_j <= t and x_j >  t, one per leaf with what f(x) is there. Cost:
    O(nodes).

    Parameters
    ----------
    decision_tree : fitted tree estimator, or Tree
        A decision or density tree, or one tree of a forest or of boosting.
    feature_names : sequence of str, optional
        The names of the columns; those of `fit`, or feature_0, feature_1, ... unless given.
    class_names : sequence of str, optional
        The names of the classes; the labels unless given.
    max_depth : int, default=10
        Branches below are cut, and said to be.
    spacing : int, default=3
        Width of an indent.
    decimals : int, default=2
        Digits after the point.
    show_weights : bool, default=False
        Show the weight of each class in the leaves.
    missing : bool, default=False
        Say on which side rows without a value go.

    Returns
    -------
    str

    Examples
    --------
    >>> import thetahat as th
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris()
    >>> model = th.DecisionTreeClassifier(max_depth=1).fit(data.data, data.target)
    >>> print(th.export_text(model, feature_names=data.feature_names))
    |--- petal length (cm) <= 2.45
    |   |--- class: 0
    |--- petal length (cm) >  2.45
    |   |--- class: 1
    <BLANKLINE>
    """
    for name, value, least in (
        ("max_depth", max_depth, 0),
        ("spacing", spacing, 1),
        ("decimals", decimals, 0),
    ):
        if value < least:
            raise ParameterError(f"{name}={value!r} must be ≥ {least}.")
    words = Words.of(decision_tree, feature_names, class_names)
    tree, lines = words.tree, []
    height = _heights(tree)
    stack: list[tuple[int, int, str]] = [(0, 1, "")]
    while stack:
        node, depth, said = stack.pop()
        if said:
            lines.append(_indent(depth - 1, spacing) + " " + said)
        if depth > max_depth + 1 and height[node] > 1:
            lines.append(f"{_indent(depth, spacing)} truncated branch of depth {height[node]}")
        elif tree.feature[node] < 0:
            answer = _answer(words, node, decimals, show_weights)
            lines.append(f"{_indent(depth, spacing)} {answer}")
        else:
            left, right = words.sides(node, decimals)
            if missing:
                of_missing = " or missing"
                left += of_missing * bool(tree.missing_left[node])
                right += of_missing * (not tree.missing_left[node])
            child = int(tree.left[node])
            stack += [(child + 1, depth + 1, right), (child, depth + 1, left)]
    return "\n".join(lines) + "\n"


def _indent(depth: int, spacing: int) -> str:
    return ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing


def _heights(tree: Any) -> Array:
    """Levels of each node's branch, 1 for a leaf."""
    height = np.ones(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after parents
        height[node] = 1 + height[tree.left[node] : tree.left[node] + 2].max()
    return height


def _answer(words: Words, node: int, decimals: int, show_weights: bool) -> str:
    values = words.tree.value[node]
    if words.classes:
        named = f"class: {words.majority(node)}"
        if not show_weights:
            return named
        return f"weights: {_numbers(values[0] * words.tree.weight[node], decimals)} {named}"
    if words.tree.max_n_classes > 1:
        return f"classes: {[int(output.argmax()) for output in values]}"
    return f"{words.answer}: {_numbers(values[:, 0], decimals)}"


def _numbers(values: Array, decimals: int) -> str:
    return "[" + ", ".join(f"{value:.{decimals}f}" for value in values) + "]"
