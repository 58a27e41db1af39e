"""
Growing a density tree
======================

A density tree is a histogram whose cells adapt to the data. It starts with the box around all rows
and repeatedly divides the cell where this lowers the integrated squared error most. Cells become
small where rows are dense; empty regions remain in one piece.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle

import thetahat as th

random = np.random.default_rng(0)
angle = random.uniform(0.0, np.pi, 700)
arc = np.column_stack([2.5 * np.cos(angle), 2.5 * np.sin(angle)])
cluster = np.array([0.0, -0.4]) + 0.35 * random.standard_normal((300, 2))
X = np.concatenate([arc + 0.2 * random.standard_normal((700, 2)), cluster])

# %%
# Each cell is shaded by its density N_l/(N·V_l): its share of the rows divided by its volume.


def draw_cells(axes, model):
    low, high = model.cells()
    density = np.exp(model.log_density((low + high) / 2))
    boxes = [Rectangle(a, *(b - a)) for a, b in zip(low, high, strict=True)]
    shades = PatchCollection(boxes, cmap="Blues", norm=LogNorm(2e-3, 0.6), edgecolor="0.5", lw=0.4)
    shades.set_array(density)
    axes.add_collection(shades)
    axes.set(xlim=model.box_[:, 0], ylim=model.box_[:, 1], xticks=[], yticks=[])
    return shades


figure, panels = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
for axes, leaves in zip(panels.flat, (2, 5, 15, 50), strict=True):
    model = th.DensityTree(max_leaf_nodes=leaves).fit(X)
    shades = draw_cells(axes, model)
    axes.plot(*X.T, ".", color="black", markersize=1.2)
    axes.set_title(f"{leaves} leaves", fontsize=10)
figure.colorbar(shades, ax=panels, label="density", shrink=0.8)
plt.show()

# %%
# Held-out rows choose the number of cells: pruning merges cells, always those with the smallest
# loss, and cross-validation decides when to stop.

model = th.DensityTree(
    "uniformity", max_leaf_nodes=200, margin=0.05, pruned_leaf_nodes="cv", random_state=0
).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.semilogx(model.pruning_counts_, model.pruning_scores_, "o-", color="tab:blue", markersize=3)
left.axvline(model.n_leaves_, color="black", lw=0.8, ls=":")
left.set(xlabel="leaves", ylabel="held-out log-likelihood per row")
draw_cells(right, model)
right.set_title(f"{model.n_leaves_} leaves are left", fontsize=10)
plt.show()
