"""
Robust losses and the squared loss
==================================

Eight of sixty points were recorded with the wrong sign. The squared loss gives them so much weight
that the line is lost; losses that grow more slowly keep it. Only the loss differs between the fits:
the function class, the penalty and the data are the same, and the solver is chosen for each loss.
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
# The true slope is 2. The solver depends on the loss.

grid = np.array([[0.0], [10.0]])
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.scatter(x, y, s=14, color="black")
axes.scatter(x[wrong], y[wrong], s=60, facecolors="none", edgecolors="tab:red")
axes.plot(grid, 2.0 * grid + 1.0, "k:", label="true line")
for loss, model in zip(losses, models, strict=True):
    axes.plot(grid, model.predict(grid), label=repr(loss))
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False)
plt.show()
