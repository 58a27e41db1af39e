"""
Two forests for regression, with a prediction interval
======================================================

The average of many step functions is a curve. The thresholds of a random forest lie midway between
the rows, so all trees have steps at nearly the same places. Extremely randomised trees have steps
anywhere between, and their mean is smooth. The out-of-bag rows show how far new targets are from
the curve: the interval contains nine of ten.
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
# Outside the data both forests predict the value of their last leaf.

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
