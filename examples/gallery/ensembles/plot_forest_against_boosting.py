"""
Random forest and boosting, tree by tree
========================================

Bagging averages trees that are grown on samples of the rows; a random forest also samples the
columns at every node, so that its trees differ more. The error of an average falls with the number
of trees and then stays constant. Boosting adds small trees that correct the remaining errors, and
can improve for longer. Here one class is a ball in ten dimensions: every column matters a little,
and boosting has the smallest error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_hastie_10_2

import thetahat as th

X, y = make_hastie_10_2(6000, random_state=0)
X, y, X_new, y_new = X[:2000], y[:2000], X[2000:], y[2000:]
n_trees = 150

# %%
# The error after each tree: of the mean of the first trees of a forest, and of each stage of
# boosting.


def errors_of_forest(forest):
    shares = np.cumsum([tree.predict_proba(X_new)[:, 1] for tree in forest.estimators_], axis=0)
    means = shares / np.arange(1, n_trees + 1)[:, None]
    return np.mean((means > 0.5) != (y_new > 0), axis=1)


bagging = th.RandomForestClassifier(n_trees, max_features=None, random_state=0).fit(X, y)
forest = th.RandomForestClassifier(n_trees, random_state=0).fit(X, y)
boosting = th.GradientBoostingClassifier(
    n_estimators=n_trees, max_depth=None, max_leaf_nodes=6, random_state=0
).fit(X, y)
staged = [np.mean(labels != y_new) for labels in boosting.staged_predict(X_new)]

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(errors_of_forest(bagging), label="bagging: all columns at every node")
axes.plot(errors_of_forest(forest), label="random forest: three columns at every node")
axes.plot(staged, label="boosting: six leaves a tree")
axes.set(xlabel="trees", ylabel="test error", ylim=(0.0, 0.45))
axes.legend(frameon=False)
plt.show()
