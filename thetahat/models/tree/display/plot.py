"""Plots of trees."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array
from thetahat.models.tree.display.layout import tidy_places
from thetahat.models.tree.display.words import Words
from thetahat.models.tree.pruning import pruned

LARGEST_FONT = 11.0
FILL = 0.86
"""Fraction of the distance between two neighbours that their boxes may take."""


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: float | None = None,
    missing: bool = True,
) -> list[Any]:
    """Plot a decision tree with matplotlib.

    Each box shows the split of the node, the number of rows and the prediction. Rows for which the
    condition holds go to the left child. Cost: O(nodes · depth).

    Parameters
    ----------
    decision_tree : fitted tree estimator, or Tree
        A fitted decision or density tree, or one tree of a forest or of gradient boosting.
    max_depth : int or None, default=None
        Maximum depth to show. Deeper nodes are replaced by "(...)"; None shows all nodes.
    feature_names : sequence of str or None, default=None
        Names of the columns. By default those of `fit`, or feature_0, feature_1, …
    class_names : sequence of str or None, default=None
        Names of the classes, in the order of ``classes_``. By default the labels themselves.
    label : {"all", "root", "none"}, default="all"
        Whether to label the numbers in all boxes, only at the root, or nowhere.
    filled : bool, default=False
        If True, colour the boxes by the majority class or by the value.
    impurity : bool, default=True
        If True, show the impurity of each node.
    node_ids : bool, default=False
        If True, show the number of each node.
    proportion : bool, default=False
        If True, show proportions of rows and classes instead of counts and weights.
    rounded : bool, default=False
        If True, draw the boxes with rounded corners.
    precision : int, default=3
        Number of digits after the decimal point.
    ax : matplotlib Axes or None, default=None
        Axes to draw on. None uses the current axes.
    fontsize : float or None, default=None
        Size of the text. None chooses the largest size at which no boxes overlap.
    missing : bool, default=True
        If True, show to which side rows with missing values go.

    Returns
    -------
    list of matplotlib Text
        One text per node drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import thetahat as th
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> len(th.plot_tree(th.DecisionTreeClassifier(max_depth=2).fit(X, y)))
    5
    """
    plt = optional_import("matplotlib.pyplot", extra="plot", purpose="plot_tree")
    words = Words.of(decision_tree, feature_names, class_names)
    whole = words.tree
    shown = pruned(whole, whole.depth >= max_depth) if max_depth is not None else whole
    node_of = _originals(whole, max_depth)
    x, depth = tidy_places(shown)
    axes = ax if ax is not None else plt.gca()
    axes.set_axis_off()
    axes.set(xlim=(x.min() - 0.6, x.max() + 0.6), ylim=(-depth.max() - 0.5, 0.5))
    colors = _colors(words, filled)
    style = f"{'round' if rounded else 'square'},pad=0.35"
    texts = []
    for place, node in enumerate(node_of):
        lines = _lines(words, int(node), label, impurity, node_ids, proportion, precision)
        if shown.feature[place] < 0 <= whole.feature[node]:
            lines = ["(...)"]
        texts.append(
            axes.text(
                x[place],
                -depth[place],
                "\n".join(lines),
                ha="center",
                va="center",
                bbox={"boxstyle": style, "facecolor": colors[node], "edgecolor": "0.3", "lw": 0.8},
                zorder=2,
            )
        )
    inner = np.flatnonzero(shown.feature >= 0)
    edge_texts = []
    for parent in inner:
        for side, condition in enumerate(_edge_words(shown, int(parent), missing)):
            child = shown.left[parent] + side
            ends = (x[parent], x[child]), (-depth[parent], -depth[child])
            axes.plot(*ends, color="0.3", lw=0.8, zorder=1)
            at = 0.5 * (x[parent] + x[child]), -0.5 * (depth[parent] + depth[child])
            edge_texts.append(
                axes.text(
                    *at, condition, ha="center", va="center", color="0.3", zorder=3, bbox=_HALO
                )
            )
    _fit_text(axes, texts, edge_texts, fontsize)
    return texts


_HALO = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}


def _originals(tree: Any, max_depth: int | None) -> Array:
    """The nodes to draw."""
    return np.flatnonzero(tree.depth <= (tree.max_depth if max_depth is None else max_depth))


def _edge_words(tree: Any, node: int, missing: bool) -> tuple[str, str]:
    if not missing:
        return ("yes", "no")
    left = bool(tree.missing_left[node])
    return ("yes, missing" if left else "yes", "no" if left else "no, missing")


def _lines(
    words: Words,
    node: int,
    label: str,
    impurity: bool,
    node_ids: bool,
    proportion: bool,
    precision: int,
) -> list[str]:
    """Lines of text in the box of a node."""
    tree = words.tree
    named = label == "all" or (label == "root" and node == 0)
    lines = [f"node #{node}" if named else str(node)] if node_ids else []
    if tree.feature[node] >= 0:
        lines.append(words.sides(node, precision)[0].replace("<=", "≤"))
    if impurity:
        number = f"{tree.impurity[node]:.{precision}f}"
        lines.append(f"{words.impurity} = {number}" if named else number)
    rows = f"{tree.count[node]}"
    if proportion:
        rows = f"{100 * tree.weight[node] / tree.weight[0]:.3g}%"
    lines.append(f"samples = {rows}" if named else rows)
    values = tree.value[node]
    if words.classes:
        parts = values[0] if proportion else values[0] * tree.weight[node]
        text = "[" + ", ".join(f"{part:.{precision}g}" for part in _tidy(parts)) + "]"
    else:
        parts = values[:, 0] if tree.max_n_classes == 1 else values.argmax(axis=1)
        text = ", ".join(f"{part:.{precision}f}" for part in parts)
    if len(text) <= 30:
        lines.append(f"{words.answer} = {text}" if named else text)
    if words.classes:
        lines.append(f"class = {words.majority(node)}" if named else words.majority(node))
    return lines


def _tidy(parts: Array) -> Array:
    """Weights that are whole numbers up to rounding, rounded."""
    whole = np.round(parts)
    return np.where(np.abs(parts - whole) < 1e-9 * (1.0 + np.abs(parts)), whole, parts)


def _colors(words: Words, filled: bool) -> list[Any]:
    """White, or the colour of the class, stronger in purer nodes, or a shade by value."""
    tree = words.tree
    if not filled:
        return ["white"] * tree.node_count
    matplotlib = optional_import("matplotlib", extra="plot", purpose="plot_tree")
    if words.classes:
        shares = tree.value[:, 0, :]
        best = shares.argmax(axis=1)
        n = shares.shape[1]
        strength = (shares.max(axis=1) - 1.0 / n) / (1.0 - 1.0 / n) if n > 1 else np.ones(best.size)
        cycle = matplotlib.color_sequences["tab10"]
        pure = np.array([cycle[k % len(cycle)] for k in best])
        share = 0.75 * np.clip(strength, 0.0, 1.0)[:, None]
        return list(1.0 - share * (1.0 - pure))
    values = tree.values[:, 0]
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    place = (values - low) / (high - low) if high > low else np.full(values.size, 0.5)
    return list(matplotlib.colormaps["Oranges"](0.05 + 0.6 * np.clip(place, 0.0, 1.0)))


def _fit_text(axes: Any, boxes: list[Any], edges: list[Any], fontsize: float | None) -> None:
    """Set one font size for all boxes, the largest at which no two boxes touch."""
    size = fontsize
    if size is None:
        figure = axes.get_figure()
        for text in boxes:
            text.set_fontsize(LARGEST_FONT)
        figure.draw_without_rendering()  # layout engines move the axes when drawing
        renderer = figure.canvas.get_renderer()
        unit = axes.transData.transform([[0.0, 0.0], [1.0, 1.0]])
        extents = [text.get_bbox_patch().get_window_extent(renderer) for text in boxes]
        crowded = max(_crowding(extents))
        high = max(extent.height for extent in extents)
        size = LARGEST_FONT * min(1.0, FILL / crowded, 0.7 * (unit[1, 1] - unit[0, 1]) / high)
    for text in boxes:
        text.set_fontsize(size)
    for text in edges:
        text.set_fontsize(0.8 * size)


def _crowding(extents: list[Any]) -> list[float]:
    """For neighbours in one row, the width of their boxes over the distance of their centres."""
    rows: dict[int, list[tuple[float, float]]] = {}
    for extent in extents:
        middle = 0.5 * (extent.x0 + extent.x1), 0.5 * (extent.y0 + extent.y1)
        rows.setdefault(round(middle[1]), []).append((middle[0], extent.width))
    found = [0.1]
    for row in rows.values():
        row.sort()
        for (x, width), (next_x, next_width) in pairwise(row):
            found.append(0.5 * (width + next_width) / max(next_x - x, 1e-9))
    return found
