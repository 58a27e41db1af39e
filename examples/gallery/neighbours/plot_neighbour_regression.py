"""
How many neighbours
===================

A small number of neighbours follows the noise, a large one averages the signal away. Weights by
distance and a radius instead of a number are alternatives.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.sort(random.random(120))
y = np.sin(2 * np.pi * x) + 0.3 * random.standard_normal(120)
grid = np.linspace(0, 1, 400)[:, None]

figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained", sharey=True)
for axis, k in zip(axes, (1, 10, 60), strict=True):
    axis.plot(x, y, ".", color="0.7")
    for weights in ("uniform", "distance"):
        model = th.KNeighborsRegressor(n_neighbors=k, weights=weights).fit(x[:, None], y)
        axis.plot(grid, model.predict(grid), lw=1, label=weights)
    axis.set_title(f"k = {k}")
axes[0].legend(frameon=False)
plt.show()

# %%
# The number with the smallest error on held-out rows, and a radius for comparison.

numbers = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60)
curve = th.validation_curve(
    th.KNeighborsRegressor(), x[:, None], y, parameter="n_neighbors", values=numbers, cv=5
)
print(curve)
within = th.RadiusNeighborsRegressor(radius=0.05).fit(x[:, None], y)
print("R² with radius 0.05:", round(within.score(x[:, None], y), 3))

# %%
# The distance to the tenth neighbour shows where the rows are dense.

distance, _ = th.NearestNeighbors(n_neighbors=10).fit(x[:, None]).kneighbors(grid)
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
axis.plot(grid, distance[:, -1])
axis.set(xlabel="x", ylabel="distance to the tenth neighbour")
plt.show()
