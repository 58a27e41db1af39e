"""
Local fits by kernel
====================

A local model fits the training rows around every query, weighted by a smoothing kernel. A local
average is drawn to the mean near the boundary of the data and under slopes; a local line is not.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.random(120)) ** 1.5
y = np.sin(7 * x) + 2 * x + 0.25 * random.standard_normal(120)
X, grid = x[:, None], np.linspace(0, 1, 400)[:, None]
truth = np.sin(7 * grid[:, 0]) + 2 * grid[:, 0]

# %%
# The kernels of ``th.smoothing`` in the same units. All integrate to 1; Silverman's kernel is
# negative further out.

kernels = [
    th.smoothing.Uniform(),
    th.smoothing.Triangular(),
    th.smoothing.Epanechnikov(),
    th.smoothing.Quartic(),
    th.smoothing.Triweight(),
    th.smoothing.Tricube(),
    th.smoothing.Cosine(),
    th.smoothing.Gaussian(),
    th.smoothing.Logistic(),
    th.smoothing.Sigmoid(),
    th.smoothing.Silverman(),
]
s = np.linspace(-4, 4, 801)
figure, axes = plt.subplots(3, 4, figsize=(10, 6), layout="constrained", sharex=True, sharey=True)
for axis, kernel in zip(axes.flat, kernels, strict=False):
    axis.fill_between(s, kernel.value(s), alpha=0.3)
    axis.plot(s, kernel.value(s), lw=1)
    axis.set_title(f"{kernel.name}, R = {kernel.roughness:.3f}", fontsize=9)
axes.flat[-1].axis("off")
plt.show()

# %%
# An average (upper row) and a line (lower row) with three kernels of equal smoothing. The last
# kernel takes its width from the 25th neighbour, so that it is wide where rows are rare.

shown = ("uniform", "gaussian", th.smoothing.Nearest(25, "tricube"))
figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained", sharex=True, sharey=True)
for row, (degree, label) in zip(axes, ((0, "average"), (1, "line")), strict=True):
    for axis, kernel in zip(row, shown, strict=True):
        model = th.LocallyWeightedRegression("silverman", kernel, degree).fit(X, y)
        value, std = model.predict(grid, return_std=True)
        axis.plot(x, y, ".", color="0.7", ms=4)
        axis.plot(grid, truth, ":", color="black", lw=1)
        axis.plot(grid, value, color="C0")
        axis.fill_between(grid[:, 0], value - 2 * std, value + 2 * std, alpha=0.25)
        name = kernel if isinstance(kernel, str) else "25 neighbours, tricube"
        axis.set_title(f"{label}, {name}")
plt.show()

# %%
# The bandwidth with the smallest leave-one-out error, which needs no further fits, and the error of
# other bandwidths.

best = th.NadarayaWatson("leave_one_out").fit(X, y)
widths = np.geomspace(0.005, 0.5, 40)
errors = [np.mean((th.NadarayaWatson(h).fit(X, y).leave_one_out() - y) ** 2) for h in widths]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.loglog(widths, errors)
left.axvline(best.bandwidth_, color="C1", ls="--", label=f"h = {best.bandwidth_:.3f}")
left.set(xlabel="bandwidth h", ylabel="leave-one-out error")
left.legend(frameon=False)
labels = np.where(y > 1.2, "high", "low")
shares = th.NadarayaWatsonClassifier("leave_one_out").fit(X, labels)
right.plot(x, labels == "high", ".", color="0.7")
right.plot(grid, shares.predict_proba(grid)[:, 0], color="C0")
right.set(xlabel="x", ylabel='P(y is "high")')
plt.show()
