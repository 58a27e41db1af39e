"""
How many trees? Ask the rows left out
=====================================

Each tree of a random forest draws its rows with replacement and so leaves out about a third of
them. The trees that did not draw a row judge it as if it were new: an honest error without a test
set, known while the forest grows. It starts high, for at first few trees speak of a row, and then
settles at the test error.
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
# ``warm_start`` adds trees to those that are there; the interval is that of the score left out.

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
axes.plot(sizes, left_out, label="error on the rows left out")
axes.plot(sizes, test, color="black", ls="--", label="error on 2500 new rows")
axes.set(xlabel="trees", ylabel="error")
axes.legend(frameon=False)
plt.show()
