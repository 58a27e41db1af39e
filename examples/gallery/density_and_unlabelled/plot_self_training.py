"""
Self-training with a few labels
===============================

Two clusters in twenty columns, four hundred rows, a handful of labels. Self-training fits a
classifier to the labelled rows, accepts its most confident predictions as labels, and fits again,
so that the labels spread through the clusters. Here this removes up to half of the error. With only
three labels the first fit may be wrong, and then its mistakes spread as well.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)


def clusters(n_labelled):
    """Rows, their classes, and labels for the first few rows of each class; −1 for the others."""
    kind = random.integers(0, 2, 400)
    X = random.standard_normal((400, 20))
    X[:, 0] += np.where(kind, 2.0, -2.0)
    y = np.full(400, -1)
    for k in (0, 1):
        y[np.flatnonzero(kind == k)[:n_labelled]] = k
    return X, kind, y


numbers, repeats = (3, 6, 12, 24), 5
errors = np.empty((2, len(numbers), repeats))
for place, number in enumerate(numbers):
    for repeat in range(repeats):
        X, kind, y = clusters(number)
        alone = th.LogisticRegression().fit(X[y >= 0], y[y >= 0])
        model = th.SelfTrainingClassifier(criterion="k_best", k_best=60, max_iter=None).fit(X, y)
        errors[:, place, repeat] = [1 - each.score(X, kind) for each in (alone, model)]

# %%
# Right: the rows of one run, by the informative column and by one of the others. The shade is the
# round in which a row got its label: the rows between the clusters are labelled last.

X, kind, y = clusters(6)
model = th.SelfTrainingClassifier(criterion="k_best", k_best=60, max_iter=None).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for name, error in zip(("labelled rows only", "self-training"), errors, strict=True):
    left.errorbar(
        numbers, error.mean(axis=1), error.std(axis=1) / np.sqrt(repeats), marker="o", label=name
    )
left.set(xlabel="labels per class", ylabel="error", ylim=(0, None), xticks=numbers)
left.legend(frameon=False)
shades = right.scatter(*X[:, :2].T, c=model.labeled_iter_, s=10, cmap="viridis")
right.plot(*X[y >= 0, :2].T, "o", color="none", markeredgecolor="red", label="came with a label")
right.set(xlabel="column 0", ylabel="column 1")
right.legend(loc="upper left", fontsize=9)
figure.colorbar(shades, ax=right, label="round")
plt.show()
