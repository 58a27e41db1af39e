"""
A curve of your own, with bands
===============================

Any function f(x; θ) can be fitted by least squares. Write it with NumPy and give a rough start; the
derivatives come from automatic differentiation. The fit reports standard errors, a confidence band
for the curve and a prediction band for new points.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th


def growth(X, theta):
    """Logistic growth towards a ceiling."""
    ceiling, middle, rate = theta
    return ceiling / (1 + np.exp(-rate * (X[:, 0] - middle)))


random = np.random.default_rng(0)
days = np.sort(random.uniform(0.0, 20.0, 45))[:, np.newaxis]
height = growth(days, np.array([12.0, 9.0, 0.5])) + random.normal(0.0, 0.7, len(days))

model = th.NonlinearRegression(growth, start={"ceiling": 5.0, "middle": 5.0, "rate": 1.0})
model.fit(days, height)
model.summary()

# %%
# The confidence band is widest where the parameters are least certain; the prediction band adds the
# noise. The second picture compares least squares with a robust loss on data with outliers.

spoiled = height.copy()
spoiled[::9] -= 8.0
plain = th.NonlinearRegression(growth, [5.0, 5.0, 1.0]).fit(days, spoiled)
robust = th.NonlinearRegression(growth, [5.0, 5.0, 1.0], loss=th.losses.Cauchy(scale=0.7))
robust.fit(days, spoiled)

grid = np.linspace(-2.0, 24.0, 300)[:, np.newaxis]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.0), sharey=True, layout="constrained")
for kind, alpha in (("prediction", 0.15), ("confidence", 0.35)):
    low, high = model.predict_interval(grid, kind=kind)
    left.fill_between(
        grid[:, 0], low, high, color="tab:blue", alpha=alpha, lw=0, label=f"95 % {kind} band"
    )
left.plot(grid, model.predict(grid), color="tab:blue", label="fitted curve")
left.plot(grid, growth(grid, np.array([12.0, 9.0, 0.5])), "k:", label="true curve")
left.scatter(days, height, s=14, color="black", zorder=3)
left.set(xlabel="day", ylabel="height", title="least squares")
left.legend(frameon=False, loc="lower right")

right.plot(grid, plain.predict(grid), color="tab:orange", label="least squares")
right.plot(grid, robust.predict(grid), color="tab:blue", label="Cauchy loss")
right.plot(grid, growth(grid, np.array([12.0, 9.0, 0.5])), "k:")
right.scatter(days, spoiled, s=14, color="black", zorder=3)
right.set(xlabel="day", title="with every ninth point spoiled")
right.legend(frameon=False, loc="lower right")
plt.show()
