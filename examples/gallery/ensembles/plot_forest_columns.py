"""
Columns per split and columns per tree
======================================

The trees of a forest differ because each may use only some of the columns. The columns can be drawn
at every node, or once for the whole tree. A tree with few columns may miss the important ones
entirely; with a new draw at every node, every column can be used somewhere. Extremely randomised
trees also draw the thresholds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import thetahat as th

X, y = make_classification(
    5000, n_features=16, n_informative=5, n_redundant=0, flip_y=0.02, random_state=3
)
X, y, X_new, y_new = X[:1200], y[:1200], X[1200:], y[1200:]
widths = np.array([1, 2, 3, 4, 6, 8, 12, 16])


def errors(kind, name, **settings):
    found = []
    for width in widths:
        forest = kind(60, random_state=0, **{name: int(width)}, **settings)
        found.append(1 - forest.fit(X, y).score(X_new, y_new))
    return found


per_split = errors(th.RandomForestClassifier, "max_features")
per_tree = errors(th.RandomForestClassifier, "max_features_per_tree", max_features=None)
extra = errors(th.ExtraTreesClassifier, "max_features")

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(widths, per_tree, "o-", label="drawn once per tree")
axes.plot(widths, per_split, "o-", label="drawn at every node")
axes.plot(widths, extra, "o-", label="drawn at every node, thresholds too")
axes.set(xlabel="columns drawn, of 16", ylabel="test error", ylim=(0.0, None))
axes.legend(frameon=False)
plt.show()
