"""Trees as indented text."""

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
    """Describe a tree as indented text, one line per condition and per leaf.

    Each inner node has two lines, x_j <= t and x_j >  t, and each leaf one line with its
    prediction. Directions of oblique splits are given below the tree, as sums of columns with their
    coefficients (``directions_`` of the estimator). Cost: O(nodes).

    Parameters
    ----------
    decision_tree : fitted tree estimator, or Tree
        A fitted decision or density tree, or one tree of a forest or of gradient boosting.
    feature_names : sequence of str or None, default=None
        Names of the columns. By default those of `fit`, or feature_0, feature_1, …
    class_names : sequence of str or None, default=None
        Names of the classes, in the order of ``classes_``. By default the labels themselves.
    max_depth : int, default=10
        Maximum depth to show. Deeper branches are shown as "truncated branch of depth k".
    spacing : int, default=3
        Number of characters per level of indentation.
    decimals : int, default=2
        Number of digits after the decimal point.
    show_weights : bool, default=False
        If True, show the weight of each class in the leaves.
    missing : bool, default=False
        If True, show to which side rows with missing values go.

    Returns
    -------
    str
        The text, with a line break after every line.

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
        node, depth, condition = stack.pop()
        if condition:
            lines.append(_indent(depth - 1, spacing) + " " + condition)
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
    used = np.unique(tree.feature[tree.feature >= 0]).tolist()
    lines += [f"{words.names[j]} = {words.formulas[j]}" for j in used if j in words.formulas]
    return "\n".join(lines) + "\n"


def _indent(depth: int, spacing: int) -> str:
    return ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing


def _heights(tree: Any) -> Array:
    """Number of levels of the branch of each node, 1 for a leaf."""
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
