"""
AdaBoost for regression: the weighted median of trees
=====================================================

AdaBoost for regression fits trees of depth four one after another, each with more weight on the
rows with large errors so far, and predicts the weighted median of all trees. A single tree is a
coarse step function; the median of two hundred trees follows the curve.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 6, 200))
y = np.sin(x) + np.sin(4 * x) / 2 + 0.15 * random.normal(size=200)
X = x[:, None]

tree = th.DecisionTreeRegressor(max_depth=4).fit(X, y)
boosted = th.AdaBoostRegressor(
    th.DecisionTreeRegressor(max_depth=4), n_estimators=200, random_state=0
).fit(X, y)

# %%
grid = np.linspace(0, 6, 600)[:, None]
figure, panel = plt.subplots(figsize=(8, 4.2), layout="constrained")
panel.plot(x, y, ".", color="0.6", ms=4)
panel.plot(grid, np.sin(grid) + np.sin(4 * grid) / 2, color="0.6", lw=1, label="truth")
panel.plot(grid, tree.predict(grid), color="tab:blue", label="one tree")
panel.plot(grid, boosted.predict(grid), color="tab:red", label="median of 200")
panel.set(xlabel="x", ylabel="y")
panel.legend(frameon=False, ncols=3)
plt.show()
