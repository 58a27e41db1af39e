"""Positions of the nodes of a plotted tree: compact and without overlaps.

Subtrees are moved together until their closest nodes, at any depth, are one unit apart; a parent
lies above the middle of its children. With the contours of the subtrees this takes one pass from
the leaves up and one down.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.tree.structure import Tree


def tidy_places(tree: Tree) -> tuple[Array, Array]:
    """x and depth of every node; nodes of one depth are ≥ 1 apart. Cost: O(nodes · depth)."""
    left_edge: list[Array] = [np.zeros(1)] * tree.node_count
    right_edge = list(left_edge)
    half = np.zeros(tree.node_count)
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner[::-1]:  # children come after parents
        a, b = int(tree.left[node]), int(tree.left[node]) + 1
        shared = min(right_edge[a].size, left_edge[b].size)
        apart = 1.0 + np.max(right_edge[a][:shared] - left_edge[b][:shared])
        half[node] = apart / 2.0
        left_edge[node] = _beyond(left_edge[a] - apart / 2.0, left_edge[b] + apart / 2.0)
        right_edge[node] = _beyond(right_edge[b] + apart / 2.0, right_edge[a] - apart / 2.0)
        left_edge[a] = left_edge[b] = right_edge[a] = right_edge[b] = half[:0]  # no longer needed
    x = np.zeros(tree.node_count)
    for node in inner:
        a = int(tree.left[node])
        x[a], x[a + 1] = x[node] - half[node], x[node] + half[node]
    return x, tree.depth


def _beyond(near: Array, far: Array) -> Array:
    """The joint contour of two subtrees: that of the nearer one as deep as it goes."""
    return np.concatenate([[0.0], near, far[near.size :]])
