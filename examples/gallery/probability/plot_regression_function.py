"""
The regression function
=======================

Under squared loss the best constant is E[Y], and the best function is E[Y | X]. Both are computed
from a joint density on a grid. Learners that minimise the empirical risk on 2000 draws approach the
best function of their class: a line, or a sum of kernels, which can follow E[Y | X].
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import thetahat as th

grid = {"x": np.linspace(-3, 3, 201), "y": np.linspace(-4, 4, 241)}
joint = th.theory.GridPosterior(
    grid, lambda x, y: norm.pdf(y, 1.5 * np.sin(2 * x), 0.3 + 0.15 * np.abs(x))
)
best = th.theory.regression_function(joint, "y", given="x")
drawn = joint.sample(2000, random_state=0)
X, y = drawn["x"][:, None], drawn["y"]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
joint.plot(left)
left.plot(best.x, best.mean, "w--", label="E[Y | X]")
left.axhline(best.constant, color="0.7", lw=0.8, label="E[Y]")
left.legend(frameon=False, labelcolor="white")

models = {
    "constant": th.ConstantRegressor(),
    "line": th.LinearModel(loss="squared"),
    "kernel machine": th.KernelModel(loss="squared", alpha=1e-5),
    "boosted trees": th.HistGradientBoostingRegressor(max_iter=60),
}
right.plot(best.x, best.mean, "k--", lw=1, label=f"E[Y | X]: risk {best.risk:.3f}")
for name, model in models.items():
    model.fit(X, y)
    predicted = model.predict(best.x[:, None])
    risk = best.risk_of(lambda x, model=model: model.predict(x[:, None]))
    right.plot(best.x, predicted, label=f"{name}: risk {risk:.3f}")
right.set(xlabel="x", ylabel="prediction", ylim=(-2, 4.2))
right.legend(frameon=False, fontsize=8)
plt.show()
