"""
Soft and hard margins of a support vector machine
=================================================

A support vector machine looks for the widest margin between two classes. The cost C is the price of
rows inside the margin. With C = 10000 a few rows determine a narrow margin; with C = 0.01 the
margin is wide and contains many rows. Rows on the edge or inside are the support vectors (ringed);
without the others the fit would be the same.
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
# The margin lies between f(x) = −1 and f(x) = 1; its width is 2/‖β‖.

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
