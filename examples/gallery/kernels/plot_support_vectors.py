"""
Margins and support vectors for a large and a small cost
========================================================

The support vector machine looks for a wide margin (dotted lines) with few rows inside. With a large
cost C hardly any row may be inside, the margin is narrow, and few rows carry the function. With a
small cost the margin is wide and many rows are support vectors (circles). Rows outside the margin
have the coefficient 0: without them, the function would be the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import thetahat as th

random = np.random.default_rng(3)
X = np.vstack(
    [random.normal([-1.2, -0.6], 0.55, (40, 2)), random.normal([1.2, 0.6], 0.55, (40, 2))]
)
y = np.repeat(["left", "right"], 40)
first, second = np.meshgrid(np.linspace(-3, 3, 150), np.linspace(-2.4, 2.4, 150))
grid = np.column_stack([first.ravel(), second.ravel()])

figure, axes = plt.subplots(2, 2, figsize=(9, 7), sharex=True, sharey=True, layout="constrained")
for row, kernel in zip(axes, ("linear", "rbf"), strict=True):
    for ax, C in zip(row, (10000.0, 0.01), strict=True):
        model = th.SVC(C=C, kernel=kernel).fit(X, y)
        scores = model.decision_function(grid).reshape(first.shape)
        ax.contourf(first, second, scores, levels=[-99, 0, 99], colors=["C0", "C1"], alpha=0.15)
        ax.contour(
            first, second, scores, levels=[-1, 0, 1], colors="0.3", linestyles=[":", "-", ":"]
        )
        for label, colour in zip(model.classes_, ("C0", "C1"), strict=True):
            ax.plot(*X[y == label].T, ".", color=colour)
        ax.plot(*model.support_vectors_.T, "o", mfc="none", color="0.3", ms=8)
        ax.set_title(f"{kernel} kernel, C = {C:g}: {len(model.support_)} support vectors")
plt.show()

# %%
# Two more machines of the same kind: regression with a tube of errors that cost nothing, given
# (`SVR`) or found (`NuSVR`), and a region that contains most rows (`OneClassSVM`). For many rows,
# `SGDOneClassSVM` finds nearly the same region from features of the kernel (dotted line).

x = np.sort(random.uniform(0, 6, 60))[:, None]
target = np.sin(x[:, 0]) + 0.15 * random.standard_normal(60)
line = np.linspace(0, 6, 200)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
tube = th.SVR(C=10.0, epsilon=0.2).fit(x, target)
found = th.NuSVR(C=10.0, nu=0.2).fit(x, target)
left.plot(x[:, 0], target, ".", color="0.6")
left.plot(line[:, 0], tube.predict(line), "C0", label="SVR, ε = 0.2")
left.fill_between(line[:, 0], tube.predict(line) - 0.2, tube.predict(line) + 0.2, alpha=0.15)
left.plot(line[:, 0], found.predict(line), "C1--", label=f"NuSVR, ε = {found.epsilon_:.2f}")
left.plot(x[tube.support_, 0], target[tube.support_], "o", mfc="none", color="0.3", ms=8)
left.set_title(f"Regression: {len(tube.support_)} of 60 rows are support vectors")
left.legend()

region = th.OneClassSVM(nu=0.1, gamma=0.25).fit(X)
margin = th.NuSVC(nu=0.2).fit(X, y)
right.contourf(
    first, second, region.decision_function(grid).reshape(first.shape), levels=[0, 99], alpha=0.3
)
right.contour(
    first, second, margin.decision_function(grid).reshape(first.shape), levels=[0], colors="0.3"
)
features = th.Nystroem(gamma=0.25, n_components=40, random_state=0)
steps = th.SGDOneClassSVM(nu=0.1, tol=None, max_iter=200, average=True, random_state=0)
fast = make_pipeline(features, steps).fit(X)
right.contour(
    first, second, fast.decision_function(grid).reshape(first.shape), levels=[0], linestyles=":"
)
right.plot(*X.T, ".", color="0.4")
right.set_title("OneClassSVM (region), NuSVC (line)")
plt.show()
