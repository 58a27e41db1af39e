"""
Noise in x and in y: total least squares
========================================

Least squares measures the distance to the line along y, so noise in x makes the slope too small.
Total least squares measures the distance at a right angle to the line, which is correct when both
coordinates have the same noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
true_x = random.uniform(-2.0, 2.0, 80)
X = (true_x + 0.7 * random.standard_normal(80))[:, None]
y = 1.5 * true_x + 0.7 * random.standard_normal(80)

along_y = th.LinearRegression().fit(X, y)
at_right_angles = th.TotalLeastSquares().fit(X, y)

# %%
# Thin lines connect each point with its projection on the fitted line.

ends = np.array([[-3.5], [3.5]])
figure, panels = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for axes, model, name in zip(
    panels, (along_y, at_right_angles), ("least squares", "total least squares"), strict=True
):
    slope, residual = model.coef_[0], y - model.predict(X)
    share = 0.0 if model is along_y else slope / (1.0 + slope**2)
    foot = X[:, 0] + share * residual
    axes.plot([X[:, 0], foot], [y, model.predict(foot[:, None])], color="0.75", lw=0.8)
    axes.plot(X[:, 0], y, ".")
    axes.plot(ends[:, 0], model.predict(ends), color="C1")
    axes.set(xlabel="x", title=f"{name}\nslope {slope:.2f}, true 1.50", aspect="equal")
panels[0].set(ylabel="y", ylim=(-5, 5))
plt.show()
