"""
Growing a decision tree split by split
======================================

A tree divides the plane into boxes. Each step divides the leaf with the largest gain. The first
splits find the large structures and the last ones fit single points: the training error falls to
zero while the error on new points rises again. Random thresholds and oblique splits give other
boxes for the same points.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import thetahat as th

random = np.random.default_rng(3)


def rings(n):
    """Two classes: a disc and the ring around it, blurred."""
    angle, label = random.uniform(0, 2 * np.pi, n), random.integers(0, 2, n)
    radius = 1.0 + 1.4 * label + 0.7 * random.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), label


X, y = rings(240)
new_X, new_y = rings(4000)
paper, ink = ListedColormap(["#f6d2b8", "#bcd6ea"]), ListedColormap(["#b5541c", "#1f5f8b"])
across = np.linspace(-4.2, 4.2, 400)
plane = np.column_stack([part.ravel() for part in np.meshgrid(across, across)])


def draw(axes, model, title):
    """Regions of a fitted tree, and the points it learned from."""
    regions = model.predict(plane).reshape(400, 400)
    axes.pcolormesh(across, across, regions, cmap=paper, shading="auto", rasterized=True)
    axes.scatter(*X.T, c=y, cmap=ink, s=7, linewidths=0)
    error = np.mean(model.predict(new_X) != new_y)
    axes.set_title(f"{title}\nnew points: {error:.0%} wrong", fontsize=9)
    axes.set(aspect="equal", xticks=[], yticks=[])


# %%
# Best-first growth: with at most k leaves, the k − 1 splits with the largest gains are made.

figure, panels = plt.subplots(2, 3, figsize=(8, 6), layout="constrained")
for axes, leaves in zip(panels.flat, (2, 3, 5, 9, 20, None), strict=True):
    tree = th.DecisionTreeClassifier(max_leaf_nodes=leaves).fit(X, y)
    draw(axes, tree, f"{tree.get_n_leaves()} leaves, depth {tree.get_depth()}")
plt.show()

# %%
# Exact thresholds, thresholds drawn at random, and combinations of two columns as candidates.

figure, panels = plt.subplots(1, 3, figsize=(8, 3.2), layout="constrained")
draw(panels[0], th.DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y), "best thresholds")
extra = th.ExtraTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y)
draw(panels[1], extra, "random thresholds")
slanted = th.DecisionTreeClassifier(max_leaf_nodes=12, oblique=40, random_state=0).fit(X, y)
draw(panels[2], slanted, "oblique splits")
plt.show()
