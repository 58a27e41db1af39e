"""
Classes with a Gaussian process
===============================

A Gaussian process classifier averages the probability of a class over all functions that agree with
the labels. Near the rows it is as sure as kernel logistic regression; far from them the functions
are unknown, and the probability returns to 1/2.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import thetahat as th

X, y = make_moons(120, noise=0.2, random_state=0)
kernel = th.kernels.Constant(10.0) * th.kernels.RBF(length_scale=1.0)
process = th.GaussianProcessClassifier(kernel).fit(X, y)
logistic = th.KernelLogisticRegression(
    kernel=th.kernels.RBF(length_scale=process.kernel_.second.length_scale), C=10.0
).fit(X, y)
print(f"Fitted kernel: {process.kernel_}")
print(f"Log marginal likelihood: {process.log_marginal_likelihood():.2f}")

x1, x2 = np.meshgrid(np.linspace(-4, 5, 180), np.linspace(-3, 3.5, 140))
grid = np.column_stack([x1.ravel(), x2.ravel()])
models = {"Gaussian process": process, "kernel logistic regression": logistic}

figure, panels = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained", sharey=True)
for axes, (title, model) in zip(panels, models.items(), strict=True):
    share = model.predict_proba(grid)[:, 1].reshape(x1.shape)
    colours = axes.contourf(x1, x2, share, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.7)
    axes.contour(x1, x2, share, levels=[0.5], colors="black", linewidths=1)
    for label, marker in ((0, "o"), (1, "^")):
        axes.plot(*X[y == label].T, marker, color="black", markersize=3.5, label=f"class {label}")
    axes.set(title=title, xlabel="x1")
panels[0].set_ylabel("x2")
panels[0].legend(fontsize=8, loc="lower left")
figure.colorbar(colours, ax=panels, label="probability of class 1")
plt.show()
