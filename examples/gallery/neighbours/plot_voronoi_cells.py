"""
Voronoi cells and votes
=======================

The nearest training row decides: it rules the Voronoi cell of points that are nearer to it than to
any other row. With more neighbours the cells of single, unusual rows disappear.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
X = random.random((40, 2))
y = (X[:, 0] + 0.25 * random.standard_normal(40) > 0.5).astype(int)

side = np.linspace(0, 1, 300)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

# %%
# In the upper row the number of the nearest row gives the cells, under two distances. The
# classifier with one neighbour takes the label of the cell; with seven it takes a vote.

figure, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained", sharex=True, sharey=True)
for axis, metric in zip(axes[0], ("euclidean", "manhattan"), strict=True):
    _, cell = th.KDTree(X, metric=metric).query(grid)
    shade = random.permutation(40)[cell.reshape(300, 300)]
    axis.imshow(shade, extent=(0, 1, 0, 1), origin="lower", cmap="Pastel1", interpolation="none")
    axis.set_title(f"cells, {metric}")
for axis, k in zip(axes[1], (1, 7), strict=True):
    model = th.KNeighborsClassifier(n_neighbors=k).fit(X, y)
    share = model.predict_proba(grid)[:, 1].reshape(300, 300)
    axis.imshow(share, extent=(0, 1, 0, 1), origin="lower", cmap="coolwarm", alpha=0.5)
    axis.set_title(f"k = {k}, training error {1 - model.score(X, y):.2f}")
for axis in axes.flat:
    axis.scatter(*X.T, c=y, cmap="coolwarm", edgecolor="black", s=30)
plt.show()

# %%
# All rows within a radius can vote instead. Then a point may have no neighbour at all (white).

model = th.RadiusNeighborsClassifier(radius=0.12, outlier_label=-1).fit(X, y)
figure, axis = plt.subplots(figsize=(5, 5), layout="constrained")
labels = model.predict(grid).reshape(300, 300)
shown = np.ma.masked_equal(labels, -1)
axis.imshow(shown, extent=(0, 1, 0, 1), origin="lower", cmap="coolwarm", alpha=0.5)
axis.scatter(*X.T, c=y, cmap="coolwarm", edgecolor="black", s=30)
axis.set_title(f"radius 0.12: {np.mean(labels == -1):.0%} without neighbours")
plt.show()
