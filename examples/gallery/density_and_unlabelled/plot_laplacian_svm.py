"""
Two moons with three labels each
================================

Three hundred rows on two moons, six of them with labels. A support vector machine uses the labelled
rows only. A Laplacian machine also penalises differences of its function between neighbours,
labelled or not, so that labels spread along the moons. A transductive machine labels the other rows
itself and moves its boundary to where there are none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import thetahat as th

X, moon = make_moons(300, noise=0.08, random_state=0)
y = np.full(300, -1)
for k in (0, 1):
    y[np.flatnonzero(moon == k)[:3]] = k
few = y >= 0

kernel = th.kernels.RBF(sigma=0.3)
models = {
    "labelled rows only": th.KernelModel("hinge", kernel).fit(X[few], y[few]),
    "Laplacian machine": th.LaplacianSVM(kernel=kernel).fit(X, y),
    "transductive machine": th.TransductiveSVM(kernel=kernel).fit(X, y),
}

# %%
# The shade is the score of a point; the line is where it is 0. Squares and circles are the rows
# with labels.

across, up = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-1.1, 1.6, 90))
points = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharey=True)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.decision_function(points).reshape(across.shape)
    axis.contourf(across, up, scores, levels=np.linspace(-2, 2, 17), cmap="RdBu", extend="both")
    axis.contour(across, up, scores, levels=[0.0], colors="black", linewidths=1.5)
    axis.plot(*X[~few].T, ".", color="dimgray", markersize=3)
    for k, mark in ((0, "s"), (1, "o")):
        axis.plot(*X[y == k].T, mark, color="gold", markeredgecolor="black", markersize=8)
    axis.set(title=f"{name}\n{model.score(X, moon):.1%} right", xticks=[], yticks=[])
plt.show()
