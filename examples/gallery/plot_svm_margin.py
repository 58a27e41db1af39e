"""
Soft and hard margins
=====================

A support vector machine looks for the widest street between two classes. The cost C says how much a
row inside the street counts: with C = 10000 a few rows decide, and the street is as narrow as they
make it; with C = 0.01 it is wide, many rows lie in it, and no single one matters much. Rows on the
edge or inside are the support vectors (ringed); all others could be taken away, and the fit would
stay the same.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(4)
y = np.repeat([-1, 1], 40)
X = random.normal(size=(80, 2)) * 0.75 + np.where(y[:, None] > 0, [1.6, 1.1], [-1.1, -1.2])

costs = (10_000.0, 0.01)
models = [th.LinearSVC(C=C, loss="hinge", intercept_scaling=10.0).fit(X, y) for C in costs]

# %%
# The street lies between f(x) = −1 and f(x) = 1; its width is 2/‖β‖.

across, up = np.meshgrid(np.linspace(-3.5, 4, 120), np.linspace(-3.6, 3.6, 120))
grid = np.column_stack([across.ravel(), up.ravel()])
figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for panel, C, model in zip(panels, costs, models, strict=True):
    score = model.decision_function(grid).reshape(across.shape)
    panel.contourf(across, up, score, levels=[-1, 1], colors=["0.92"])
    panel.contour(
        across, up, score, levels=[-1, 0, 1], colors="black", linestyles=["--", "-", "--"]
    )
    panel.scatter(*X.T, c=np.where(y > 0, "tab:orange", "tab:blue"), s=18, zorder=2)
    panel.scatter(
        *X[model.support_].T, s=75, facecolors="none", edgecolors="black", lw=0.8, zorder=3
    )
    width = 2 / np.linalg.norm(model.coef_)
    panel.set(
        title=f"C = {C:g}: {model.support_.size} support vectors, width {width:.2f}", xlabel="x₁"
    )
panels[0].set(ylabel="x₂")
plt.show()
