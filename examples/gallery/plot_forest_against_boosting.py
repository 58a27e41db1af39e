"""
A forest beside boosting, tree by tree
======================================

Bagging averages trees grown on draws of the rows; a random forest also draws the columns that each
node may look at, which makes its trees differ more. Both only average, so their error falls with
the number of trees and then stays. Boosting adds small trees that correct what is left, and may go
on for long. Here the classes are a ball in ten dimensions and what lies around it: every column
matters a little, alone none says much, and boosting wins.
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
staged = [np.mean(told != y_new) for told in boosting.staged_predict(X_new)]

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(errors_of_forest(bagging), label="bagging: all columns at every node")
axes.plot(errors_of_forest(forest), label="random forest: three columns at every node")
axes.plot(staged, label="boosting: six leaves a tree")
axes.set(xlabel="trees", ylabel="test error", ylim=(0.0, 0.45))
axes.legend(frameon=False)
plt.show()
