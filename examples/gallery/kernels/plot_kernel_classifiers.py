"""
Kernel logistic regression beside the support vector machine
============================================================

The same function class with two losses. The logistic loss gives probabilities, and every row has a
coefficient; the hinge loss gives a sparse sum: only rows on the margin or on its wrong side, the
support vectors (circles), have one.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
angle = random.uniform(0, np.pi, 120)
side = np.repeat([0, 1], 60)
X = np.column_stack([np.cos(angle) + side, np.sin(angle) * (1 - 2 * side) + 0.4 * side])
X += 0.2 * random.standard_normal(X.shape)
labels = np.where(side == 1, "lower", "upper")

kernel = th.kernels.RBF(sigma=0.7)
models = {
    "logistic regression": th.KernelLogisticRegression(C=10.0, kernel=kernel),
    "support vector machine": th.SVC(C=10.0, kernel=kernel),
}
first, second = np.meshgrid(np.linspace(-1.7, 2.7, 120), np.linspace(-1.5, 1.8, 120))
grid = np.column_stack([first.ravel(), second.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.fit(X, labels).decision_function(grid).reshape(first.shape)
    ax.contourf(first, second, scores, levels=[-99, 0, 99], colors=["C0", "C1"], alpha=0.15)
    ax.contour(first, second, scores, levels=[-1, 0, 1], colors="0.3", linestyles=[":", "-", ":"])
    for label, colour in zip(model.classes_, ("C0", "C1"), strict=True):
        ax.plot(*X[labels == label].T, ".", color=colour)
    if len(model.support_) < len(X):
        ax.plot(*X[model.support_].T, "o", mfc="none", color="0.3", ms=8)
    ax.set_title(f"{name}: {len(model.support_)} of {len(X)} centres")
plt.show()
