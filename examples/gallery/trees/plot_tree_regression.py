"""
Regression trees as step functions
==================================

A regression tree is a step function: each leaf predicts the mean of its rows, or their median for
absolute errors. Deeper trees have more steps, and at full depth every row has its own step, noise
included. A minimum number of rows per leaf limits this.
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
# A tree of depth one is a stump: the single threshold whose two means fit best.

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
# Means follow the outliers, medians do not. Random thresholds put the steps at other places, which
# makes such trees useful in ensembles.

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
