"""
Classification by least squares
===============================

`RidgeClassifier` fits +1 for the class of a row and −1 for every other class, and predicts the
class with the largest score. One factorisation serves all classes, which makes it one of the
fastest classifiers. The borders of its regions are straight.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
centres = np.array([[0.0, 2.2], [-2.0, -1.0], [2.0, -1.0]])
labels = np.repeat(["fern", "moss", "reed"], 60)
X = np.repeat(centres, 60, axis=0) + random.standard_normal((180, 2))

model = th.RidgeClassifierCV(alphas=np.logspace(-2, 3, 11)).fit(X, labels)
print(f"penalty chosen by leave-one-out: {model.alpha_:g}")

# %%
# The region of each class, and the line where its score is zero.

first, second = np.meshgrid(np.linspace(-5.5, 5.5, 300), np.linspace(-5.5, 5.5, 300))
points = np.column_stack([first.ravel(), second.ravel()])
classifier = th.RidgeClassifier(alpha=model.alpha_).fit(X, labels)
codes = np.searchsorted(classifier.classes_, classifier.predict(points)).reshape(first.shape)
scores = classifier.decision_function(points)

figure, axis = plt.subplots(figsize=(6, 5.5), layout="constrained")
colors = ["tab:green", "tab:purple", "tab:orange"]
axis.contourf(first, second, codes, levels=[-0.5, 0.5, 1.5, 2.5], colors=colors, alpha=0.2)
for column, (label, color) in enumerate(zip(classifier.classes_, colors, strict=True)):
    axis.contour(
        first, second, scores[:, column].reshape(first.shape), levels=[0.0], colors=[color],
        linestyles="dashed", linewidths=1,
    )  # fmt: skip
    axis.plot(*X[labels == label].T, "o", color=color, ms=4, label=label)
axis.set(xlabel="height", ylabel="width")
axis.legend(frameon=False)
plt.show()
