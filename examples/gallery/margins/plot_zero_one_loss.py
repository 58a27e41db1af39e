"""
Why classifiers minimise convex losses
======================================

The number of errors is a step function of the weights: its slope is zero almost everywhere, and it
has many local minima. Here a line in the plane is rotated by an angle. The hinge and the logistic
loss are upper bounds of the step function and convex in the weights, so their minima are easy to
find; the exact minimum needs a search over all lines.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(5)
y = np.repeat([-1.0, 1.0], 20)
X = random.normal(size=(40, 2)) * 0.9 + 0.55 * y[:, None]
X[:3] = [[2.6, 2.2], [3.0, 1.8], [2.4, 2.8]]  # three rows far on the wrong side

best = th.best_halfspace(X, y)
machine = th.LinearSVC(loss="hinge", C=10.0).fit(X, y)
errors = int(np.sum(machine.predict(X) != y))
print(f"fewest errors of any line: {best.error:.0f} of 40, after {best.planes} lines")
print(f"errors of the line with the least hinge loss: {errors}")

# %%
# Left: the mean losses along the rotation. Right: the two lines.

angles = np.linspace(-np.pi, np.pi, 721)
scores = 1.5 * X @ np.array([np.cos(angles), np.sin(angles)])
shown = {
    "0-1 loss": th.losses.ZeroOne(),
    "hinge": th.losses.Hinge(),
    "logistic / log 2": th.losses.SignLogistic(),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for name, loss in shown.items():
    mean = np.mean([loss.value(y, score) for score in scores.T], axis=1)
    left.plot(np.degrees(angles), mean / (np.log(2) if "log 2" in name else 1), label=name)
left.set(xlabel="angle of the weights", ylabel="mean loss", xticks=[-180, -90, 0, 90, 180])
left.legend(frameon=False)

ends = np.array([-3.0, 3.4])
right.scatter(*X.T, c=np.where(y > 0, "tab:orange", "tab:blue"), s=18)
for coef, intercept, label, style in (
    (best.coef, best.intercept, f"fewest errors: {best.error:.0f}", "k-"),
    (machine.coef_[0], machine.intercept_[0], f"least hinge loss: {errors} errors", "k--"),
):
    right.plot(ends, -(intercept + coef[0] * ends) / coef[1], style, label=label)
right.set(xlabel="x₁", ylabel="x₂", xlim=(-3, 3.4), ylim=(-3, 3.4))
right.legend(frameon=False, loc="lower left")
plt.show()
