"""
Steps of a regression tree
==========================

A regression tree is a staircase: each leaf answers with the mean of its rows, or with their median
when absolute errors are counted. Deeper trees have finer stairs, and at full depth every step is
one row, noise included. A least number of rows per leaf keeps the stairs wide where the data say
little.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.uniform(0.0, 10.0, 160))
clean = np.where(x < 6.0, np.sin(1.5 * x), 2.0)
y = clean + 0.25 * random.standard_normal(160)
y[random.permutation(160)[:8]] += 4.0  # a few far-off measurements
line = np.linspace(0.0, 10.0, 2000)[:, None]

# %%
# Depth one is a stump: the one threshold after which the two means explain most.

figure, panels = plt.subplots(
    2, 2, figsize=(8, 5.4), sharex=True, sharey=True, layout="constrained"
)
for axes, depth in zip(panels.flat, (1, 2, 4, None), strict=True):
    tree = th.DecisionTreeRegressor(max_depth=depth).fit(x[:, None], y)
    axes.plot(x, y, ".", color="0.7", ms=4)
    axes.plot(line, tree.predict(line), color="#1f5f8b", lw=1.4)
    axes.set_title(f"depth {tree.get_depth()}, {tree.get_n_leaves()} leaves", fontsize=9)
figure.supxlabel("x")
figure.supylabel("y")
plt.show()

# %%
# Means follow the far-off measurements, medians do not. Thresholds drawn at random put the steps
# elsewhere, which is what makes such trees useful in ensembles.

figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
axes.plot(x, y, ".", color="0.7", ms=4)
means = th.DecisionTreeRegressor(min_samples_leaf=8).fit(x[:, None], y)
medians = th.DecisionTreeRegressor(min_samples_leaf=8, criterion="absolute_error")
medians.fit(x[:, None], y)
extra = th.ExtraTreeRegressor(min_samples_leaf=8, random_state=1).fit(x[:, None], y)
axes.plot(line, means.predict(line), lw=1.2, label="means, best thresholds")
axes.plot(line, medians.predict(line), lw=2.0, label="medians, best thresholds")
axes.plot(line, extra.predict(line), lw=1.0, ls="--", label="means, random thresholds")
axes.set(xlabel="x", ylabel="y", ylim=(-2.2, 4.0))
axes.legend(frameon=False, ncols=3, loc="lower center", fontsize=8)
plt.show()
