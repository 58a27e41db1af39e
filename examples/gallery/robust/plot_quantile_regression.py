"""
Several quantiles at once
=========================

Where the noise grows with x, one line and one standard deviation do not describe the data. Quantile
regression fits a line below which a given share of the points lies. Lines that are fitted together
never cross. Each fit is the exact optimum of a linear program, and the duality gap proves it.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = random.uniform(0.0, 10.0, 600)
y = 1.0 + 0.8 * x + (0.2 + 0.35 * x) * random.gumbel(size=x.size)
X = x[:, np.newaxis]

levels = [0.05, 0.25, 0.5, 0.75, 0.95]
model = th.QuantileRegressor(quantile=levels, alpha=0.0).fit(X, y)
below = (y[:, np.newaxis] <= model.predict(X)).mean(axis=0)
for level, share in zip(levels, below, strict=True):
    print(f"quantile {level:.2f}: a share of {share:.3f} lies on or below the line")
print(f"duality gap {model.solution_.gap:.1e}")

# %%
# The mean (dotted) is pulled upwards by the long tail; the median is not.

grid = np.linspace(0.0, 10.0, 50)[:, np.newaxis]
fan = model.predict(grid)
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.scatter(x, y, s=6, color="0.5")
for low, high, shade in ((0, 4, 0.15), (1, 3, 0.3)):
    axes.fill_between(grid[:, 0], fan[:, low], fan[:, high], color="tab:blue", alpha=shade, lw=0)
for level, line in zip(levels, fan.T, strict=True):
    axes.plot(grid[:, 0], line, color="tab:blue", lw=2.5 if level == 0.5 else 1)
    axes.annotate(f"{level:.0%}", (10.1, line[-1]), va="center", color="tab:blue")
mean = th.LinearRegression().fit(X, y)
axes.plot(grid, mean.predict(grid), "k:", label="least squares")
axes.set(xlabel="x", ylabel="y", xlim=(0.0, 10.9))
axes.legend(frameon=False)
plt.show()
