"""
A posterior that becomes narrower with more data
================================================

A normal prior of slope and intercept describes many possible lines. Each observed point makes some
of them unlikely; the posterior after one batch is the prior of the next. The shaded band contains a
new y with probability 90 %. It never becomes narrower than the noise, and it is wide far from the
data.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(4)
x = random.uniform(-1.0, 1.0, 40)
y = 0.5 * x - 0.3 + 0.2 * random.standard_normal(40)
grid = np.linspace(-2.0, 2.0, 200)[:, None]

# %%
# ``partial_fit`` takes the rows as they arrive. The first panel shows the prior: rows with very
# large noise do not change it.

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), sharex=True, sharey=True, layout="constrained")
for axis, seen in zip(axes, (0, 1, 4, 40), strict=True):
    model = th.BayesianLinearRegression(prior_covariance=0.5, noise=0.2, intercept_prior=(0, 0.5))
    if seen:
        for row in range(seen):
            model.partial_fit(x[row : row + 1, None], y[row : row + 1])
    else:
        model.fit([[0.0], [0.0]], [0.0, 0.0], noise=[1e6, 1e6])
    low, high = model.predict_interval(grid, level=0.9, noise=0.2)
    axis.fill_between(grid[:, 0], low, high, color="tab:blue", alpha=0.2, lw=0)
    slopes, levels = model.sample_posterior(12, random_state=0)
    axis.plot(grid, grid * slopes[:, 0] + levels, color="tab:blue", lw=0.6, alpha=0.7)
    axis.plot(grid, 0.5 * grid - 0.3, color="black", ls="--", lw=1)
    axis.plot(x[:seen], y[:seen], "o", color="tab:red", ms=4)
    axis.set(title=f"{seen} points" if seen != 1 else "1 point", xlabel="x", ylim=(-2.5, 2.5))
axes[0].set_ylabel("y")
plt.show()

# %%
# The posterior of each coefficient.

print(model.summary(level=0.9))
