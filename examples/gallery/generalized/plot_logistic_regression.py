"""
Logistic regression: boundary and probabilities
===============================================

A linear score z = xᵀβ + b becomes a probability σ(z) = 1/(1 + e^{−z}). At the boundary z = 0 both
classes are equally likely. Lines of equal probability are parallel to the boundary, and smaller
coefficients put them further apart. A stronger penalty (a smaller C) makes the probabilities less
extreme.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = np.vstack([random.normal([-1, -0.5], 1.0, (60, 2)), random.normal([1, 0.5], 1.0, (60, 2))])
y = np.repeat(["blue", "red"], 60)

# %%
# Probabilities on a grid, for a weak and for a strong penalty.

axis = np.linspace(-4, 4, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for panel, C in zip(panels, (1.0, 0.01), strict=True):
    model = th.LogisticRegression(C=C).fit(X, y)
    red = model.predict_proba(grid)[:, 1].reshape(120, 120)
    shade = panel.contourf(axis, axis, red, np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.7)
    lines = panel.contour(
        axis, axis, red, [0.1, 0.5, 0.9], colors="black", linewidths=[0.7, 1.6, 0.7]
    )
    panel.clabel(lines, fmt="%.1f")
    panel.scatter(
        *X.T, c=np.where(y == "red", "tab:red", "tab:blue"), s=14, edgecolor="white", lw=0.4
    )
    panel.set(title=f"C = {C:g}", xlabel="$x_1$", aspect="equal")
panels[0].set(ylabel="$x_2$")
figure.colorbar(shade, ax=panels, label="probability of red")
plt.show()
