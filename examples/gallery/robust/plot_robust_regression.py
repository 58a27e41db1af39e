"""
Robust regression with leverage points
======================================

A third of the points are wrong, and they lie together far to the right, where they have high
leverage. Least squares follows them, and so do losses that only grow more slowly. A bounded loss
(Forsyth, Tukey) ignores points that are far away, provided that the fit starts from a line that the
outliers have not determined; `th.RobustRegressor` finds such a start itself.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.uniform(0.0, 8.0, 80))
y = 2.0 * x + 1.0 + random.normal(0.0, 1.0, x.size)
x[-26:] = random.uniform(9.0, 10.0, 26)
y[-26:] = random.normal(-4.0, 1.0, 26)
X = x[:, np.newaxis]

names = ("squared", "huber", "absolute", "epsilon_insensitive", "cauchy", "forsyth", "tukey")
models = {name: th.RobustRegressor(loss=name).fit(X, y) for name in names}
for name, model in models.items():
    print(f"{name:20} slope {model.coef_[0]:5.2f}, {model.outliers_.sum():2} outliers labelled")

# %%
# Points are coloured by their weight ψ(r)/r in the last fit, relative to the largest weight. Red
# rings mark the rows that the model reports as outliers.

figure, axes = plt.subplots(2, 4, figsize=(11, 5.5), sharex=True, sharey=True, layout="constrained")
grid = np.array([[0.0], [10.5]])
for (name, model), panel in zip(models.items(), axes.flat, strict=False):
    weight = np.minimum(model.weights_ / np.median(model.weights_[model.weights_ > 0]), 1.0)
    shown = panel.scatter(x, y, c=weight, s=18, cmap="viridis_r", vmin=0.0, vmax=1.0)
    labelled = model.outliers_
    panel.scatter(x[labelled], y[labelled], s=50, facecolors="none", edgecolors="tab:red", lw=0.7)
    panel.plot(grid, 2.0 * grid + 1.0, "k:", lw=1)
    panel.plot(grid, model.predict(grid), color="tab:orange", lw=2)
    panel.set_title(name, fontsize=10)
axes.flat[-1].set_axis_off()
figure.colorbar(shown, ax=axes, label="weight")
plt.show()

# %%
# Two more methods look at small subsets of rows. `TheilSenRegressor` takes the median of the lines
# through all pairs of rows, which tolerates 29% of outliers: here there are a few more.
# `RANSACRegressor` looks for the line that most rows agree with, whatever the other rows are.

median = th.TheilSenRegressor(random_state=0).fit(X, y)
sample = th.RANSACRegressor(residual_threshold=3.0, random_state=0).fit(X, y)
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.scatter(x, y, s=18, c=np.where(sample.inlier_mask_, "tab:blue", "tab:red"))
axis.plot(grid, 2.0 * grid + 1.0, "k:", lw=1, label="truth")
axis.plot(grid, median.predict(grid), color="tab:green", label="median of lines")
axis.plot(grid, sample.predict(grid), color="tab:orange", lw=2, label="most rows agree")
axis.set_title(f"{sample.inlier_mask_.sum()} of {len(y)} rows are inliers (blue)", fontsize=10)
axis.legend()
plt.show()
