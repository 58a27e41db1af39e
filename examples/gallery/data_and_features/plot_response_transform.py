"""
Transforming the target and predicting on its own scale
=======================================================

The logarithm of the price per square metre is linear in the age of a flat, with noise of equal
size. The transform ψ(y, x) = log(y/x₁) depends on the row, and predictions return through its
inverse. The plain inverse gives the median of y; averaging over the residuals gives the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(5)
area, age = random.uniform(30.0, 150.0, 250), random.uniform(0.0, 60.0, 250)
X = np.column_stack([area, age])
price = area * np.exp(1.2 - 0.02 * age + random.normal(0.0, 0.45, 250))

per_area = th.ResponseTransform(
    lambda y, X: np.log(y / X[:, 0]), lambda z, X: X[:, 0] * np.exp(z), "log price per area"
)
model = th.TransformedResponseRegressor(response=per_area).fit(X, price)
mean = th.TransformedResponseRegressor(response=per_area, retransform="mean").fit(X, price)
line = th.LinearRegression().fit(X, price)

# %%
# For flats of 80 m²: the interval through ψ⁻¹ is skewed, as prices are, and never negative. The
# band of the straight line has the same width for cheap and for expensive flats.

grid = np.column_stack([np.full(100, 80.0), np.linspace(0.0, 60.0, 100)])
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.0), sharey=True, layout="constrained")
near = np.abs(area - 80.0) < 25.0
for axes, fit, title in (
    (panels[0], line, "price itself"),
    (panels[1], model, "log(price / area), and back"),
):
    low, high = fit.predict_interval(grid, level=0.9)
    axes.fill_between(grid[:, 1], low, high, alpha=0.2, lw=0, label="90 % prediction interval")
    axes.scatter(age[near], price[near] * 80.0 / area[near], s=9, color="black", zorder=3)
    axes.axhline(0.0, color="grey", lw=0.8)
    axes.set(xlabel="age", title=title)
panels[0].plot(grid[:, 1], line.predict(grid), label="prediction")
panels[1].plot(grid[:, 1], model.predict(grid), label="median")
panels[1].plot(grid[:, 1], mean.predict(grid), "--", label="mean (smeared)")
panels[0].set(ylabel="price of 80 m²")
for axes in panels:
    axes.legend(frameon=False)
plt.show()
