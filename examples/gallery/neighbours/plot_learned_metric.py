"""
Metrics learned from classes and from pairs
===========================================

Two of five columns separate three classes, the others are noise. Neighbours under the Euclidean
distance are decided by the noise. A learned metric ‖A(x − y)‖ brings rows of one class together.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
y = random.integers(0, 3, 360)
centres = np.array([[0.0, 0.0], [2.5, 0.0], [1.2, 2.2]])
X = np.hstack([centres[y] + 0.5 * random.standard_normal((360, 2)), np.zeros((360, 3))])
X[:, 2:] = 4 * random.standard_normal((360, 3))
X = X @ np.linalg.qr(random.standard_normal((5, 5)))[0]  # hide the two columns in all five
train, test = slice(0, 180), slice(180, 360)

# %%
# `NeighborhoodComponentsAnalysis` learns from class labels that a random neighbour should have the
# class of its row. `PairwiseMetricLearner` needs only pairs: which rows are similar, and which are
# not. Here 400 pairs are given.

pairs = random.integers(0, 180, (400, 2))
alike = y[pairs[:, 0]] == y[pairs[:, 1]]
of_classes = th.NeighborhoodComponentsAnalysis(n_components=2).fit(X[train], y[train])
of_pairs = th.PairwiseMetricLearner(alpha=0.05)
of_pairs.fit(X[train], similar=pairs[alike], dissimilar=pairs[~alike])

pictures = {
    "first two columns": (X[:, :2], "euclidean"),
    "from classes": (of_classes.transform(X), of_classes.metric_),
    "from 400 pairs": (of_pairs.transform(X), of_pairs.metric_),
}
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.8), layout="constrained")
for axis, (title, (seen, metric)) in zip(axes, pictures.items(), strict=True):
    model = th.KNeighborsClassifier(5, metric=metric).fit(X[train], y[train])
    axis.scatter(*seen[test, :2].T, c=y[test], s=14, cmap="viridis", edgecolor="black", lw=0.3)
    axis.set_title(f"{title}\naccuracy of 5 neighbours {model.score(X[test], y[test]):.2f}")
plt.show()

# %%
# The penalty of the pairs makes the metric low in rank. The influence of a component is the length
# of its row: with a larger alpha, the last ones vanish.

for alpha in (0.01, 0.05, 0.2):
    of_pairs.set_params(alpha=alpha).fit(X[train], similar=pairs[alike], dissimilar=pairs[~alike])
    print(f"alpha {alpha}: lengths", np.linalg.norm(of_pairs.components_, axis=1).round(2))
