"""
A regression line with confidence and prediction bands
======================================================

Least squares fits the line y = βx + b. The confidence band contains the true line at each x with 95
% probability, and the prediction band contains a new point. The confidence band becomes narrower as
points are added; the prediction band never becomes narrower than the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
x = np.sort(random.uniform(0.0, 10.0, 40))
y = 1.5 * x + 4.0 + random.normal(0.0, 2.0, x.size)

model = th.LinearRegression().fit(x[:, np.newaxis], y)
model.summary()

# %%
# The bands are widest far from the mean of x, where a small change of the slope moves the line
# most.

grid = np.linspace(-2.0, 12.0, 200)[:, np.newaxis]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for kind, alpha in (("prediction", 0.15), ("confidence", 0.35)):
    low, high = model.predict_interval(grid, level=0.95, kind=kind)
    band = {"color": "tab:blue", "alpha": alpha, "lw": 0}
    axes.fill_between(grid[:, 0], low, high, label=f"95 % {kind} band", **band)
axes.plot(grid, model.predict(grid), color="tab:blue", label="least squares")
axes.plot(grid, 1.5 * grid + 4.0, "k:", label="true line")
axes.scatter(x, y, s=14, color="black", zorder=3)
axes.set(xlabel="x", ylabel="y", xlim=(-2, 12))
axes.legend(frameon=False)
plt.show()
