"""
Outliers: robust losses against the squared loss
================================================

Eight of sixty points were recorded with the wrong sign. The squared loss charges them by the square
of their distance and gives the line away; a loss that grows more slowly holds it. Only the loss
changes from fit to fit: function class, penalty and data stay the same, and the solver follows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
x = np.sort(random.uniform(0.0, 10.0, 60))
y = 2.0 * x + 1.0 + random.normal(0.0, 1.0, x.size)
wrong = random.choice(np.flatnonzero(x > 6.0), 8, replace=False)
y[wrong] *= -1.0

losses = (th.losses.Squared(), th.losses.Huber(), th.losses.Cauchy())
models = [th.LinearModel(loss, penalty="none").fit(x[:, np.newaxis], y) for loss in losses]
for loss, model in zip(losses, models, strict=True):
    print(f"{loss}: slope {model.coef_[0]:.2f}, by {model.solution_.solver}")

# %%
# The slope behind the points is 2. The solver is another one where the loss asks for it.

grid = np.array([[0.0], [10.0]])
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.scatter(x, y, s=14, color="black")
axes.scatter(x[wrong], y[wrong], s=60, facecolors="none", edgecolors="tab:red")
axes.plot(grid, 2.0 * grid + 1.0, "k:", label="the line behind the points")
for loss, model in zip(losses, models, strict=True):
    axes.plot(grid, model.predict(grid), label=repr(loss))
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False)
plt.show()
