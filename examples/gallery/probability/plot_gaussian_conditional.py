"""
A Gaussian, its marginals and its conditionals
==============================================

The marginal of a Gaussian discards a column; the conditional fixes its value. Both are Gaussians
again. The mean of the conditional moves with the value, and its variance, the Schur complement, is
smaller than that of the marginal and the same for every value.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

normal = th.distributions.MultivariateNormal([0, 0], [[3.0, 0.8], [0.8, 1.0]], names=["x1", "x2"])
grid = np.linspace(-5, 5, 201)
x1, x2 = np.meshgrid(grid, grid[50:151])
density = normal.density(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(7, 6), sharex=True, height_ratios=(2, 1.3), layout="constrained"
)
top.contour(x1, x2, density, levels=6, cmap="Blues")
top.plot(*normal.sample(300, random_state=0).T, ".", color="0.6", markersize=2, zorder=0)
bottom.plot(grid, normal.marginal("x1").density(grid[:, None]), color="black", label="p(x1)")
for value, color in ((-1.5, "tab:orange"), (0.0, "tab:green"), (1.5, "tab:red")):
    given = normal.conditional({"x2": value})
    top.axhline(value, color=color, lw=1)
    top.plot(given.mean, [value], "o", color=color)
    label = f"p(x1 | x2 = {value:g}), variance {given.covariance[0, 0]:.2f}"
    bottom.plot(grid, given.density(grid[:, None]), color=color, label=label)
top.set(xlim=(-5, 5), ylabel="x2", title="N(0, [[3, 0.8], [0.8, 1]])")
bottom.set(xlabel="x1", ylabel="density", ylim=(0, 0.4))
bottom.legend(fontsize=8, loc="upper left")
plt.show()

# %%
# **Independence has two meanings.** Rain causes traffic, and traffic causes delay, each with noise
# of variance 1. Rain and delay are correlated (the covariance is not 0), but once the traffic is
# known, rain says nothing more about the delay (the entry of the precision is 0).

step = np.array([[1.0, 0, 0], [1, 1, 0], [1, 1, 1]])
noise = th.distributions.MultivariateNormal(np.zeros(3), np.eye(3))
names = ["rain", "traffic", "delay"]
chain = th.distributions.MultivariateNormal(np.zeros(3), noise.affine(step).covariance, names)
print("rain ⟂ delay:          ", chain.is_independent("rain", "delay"))
print("rain ⟂ delay | traffic:", chain.is_independent("rain", "delay", given="traffic"))

panels = {
    "covariance": chain.covariance,
    "precision": chain.natural().precision,
    "partial correlation": chain.partial_correlations(),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for panel, (title, matrix) in zip(axes, panels.items(), strict=True):
    panel.imshow(matrix, cmap="RdBu", vmin=-3, vmax=3)
    for i, j in np.ndindex(3, 3):
        color = "white" if abs(matrix[i, j]) > 2.5 else "black"
        text = f"{matrix[i, j].round(2) + 0.0:g}"
        panel.text(j, i, text, ha="center", va="center", color=color)
    panel.set(title=title, xticks=range(3), yticks=range(3), xticklabels=names, yticklabels=names)
    panel.tick_params(labelsize=8)
plt.show()
