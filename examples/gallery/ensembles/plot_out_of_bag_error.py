"""
How many trees: the out-of-bag error
====================================

Each tree of a random forest draws its rows with replacement, so about a third of the rows are left
out. For each row, the trees that did not draw it give a prediction as for a new row. This
out-of-bag error needs no test set and is available while the forest grows. It starts high, because
at first few trees predict each row, and then settles near the test error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import thetahat as th

X, y = make_classification(
    4000, n_features=20, n_informative=6, n_classes=3, flip_y=0.1, random_state=1
)
X, y, X_new, y_new = X[:1500], y[:1500], X[1500:], y[1500:]

# %%
# ``warm_start`` adds trees to the existing ones; the interval belongs to the out-of-bag error.

sizes = np.unique(np.linspace(15, 250, 20).astype(int))
forest = th.RandomForestClassifier(warm_start=True, oob_score=True, random_state=0)
left_out, low, high, test = [], [], [], []
for size in sizes:
    forest.set_params(n_estimators=size).fit(X, y)
    left_out.append(1 - forest.oob_score_)
    low.append(1 - forest.oob_score_interval_[1])
    high.append(1 - forest.oob_score_interval_[0])
    test.append(1 - forest.score(X_new, y_new))

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.fill_between(sizes, low, high, alpha=0.2, label="its 95 % interval")
axes.plot(sizes, left_out, label="out-of-bag error")
axes.plot(sizes, test, color="black", ls="--", label="error on 2500 new rows")
axes.set(xlabel="trees", ylabel="error")
axes.legend(frameon=False)
plt.show()
