"""
A curve by two forests, and how far to trust it
===============================================

Averaging steps gives a curve. The thresholds of a random forest lie midway between its rows, so
all trees step at nearly the same places; extremely random trees step anywhere between, and their
mean is smooth. The rows that trees did not draw tell how far new targets fall from the curve: the
interval holds nine of ten.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 10, 150))
y = np.sin(x) + 0.1 * x + 0.25 * random.standard_normal(150)
grid = np.linspace(-0.5, 10.5, 800)

forest = th.RandomForestRegressor(200, min_samples_leaf=3, oob_score=True, random_state=0)
forest.fit(x[:, None], y)
extra = th.ExtraTreesRegressor(200, min_samples_split=8, random_state=0).fit(x[:, None], y)

# %%
# Beyond the data both stay at the value of their last leaf.

low, high = forest.predict_interval(grid[:, None], level=0.9)
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.fill_between(grid, low, high, alpha=0.2, label="90 % of new targets")
axes.plot(x, y, ".", color="grey", ms=4)
axes.plot(grid, forest.predict(grid[:, None]), label="random forest")
axes.plot(grid, extra.predict(grid[:, None]), label="extra trees")
axes.plot(grid, np.sin(grid) + 0.1 * grid, color="black", lw=0.8, label="truth")
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False, ncols=2)
plt.show()
