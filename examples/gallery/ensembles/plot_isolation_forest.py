"""
Outliers by random splits
=========================

An isolation forest splits small samples of the rows at random columns and thresholds. A row in a
sparse region is alone after a few splits, so that the path to its leaf is short. The score of a row
is a function of the mean length of its paths, and needs no distances and no scaling of the columns.
Splits are parallel to the axes: strays inside the arc share their columns with usual rows, and are
harder to isolate than those outside.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

rng = np.random.default_rng(0)
turn = rng.uniform(0.0, np.pi, size=300)
arc = np.column_stack([4.0 * np.cos(turn), 4.0 * np.sin(turn)]) + rng.normal(0.0, 0.3, (300, 2))
group = rng.normal([0.0, -1.0], 0.4, size=(150, 2))
strays = rng.uniform([-6.0, -4.0], [6.0, 6.0], size=(20, 2))
X = np.concatenate([arc, group, strays])

model = th.IsolationForest(contamination=len(strays) / len(X), random_state=0).fit(X)
label = model.predict(X)
caught = np.sum(label[-len(strays) :] == -1)
print(f"{np.sum(label == -1)} rows are outliers, {caught} of the {len(strays)} strays among them.")

x, y = np.meshgrid(np.linspace(-6.5, 6.5, 260), np.linspace(-4.5, 6.5, 220))
score = model.score_samples(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)

figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
shades = axes.contourf(x, y, score, levels=15, cmap="Blues_r")
axes.contour(x, y, score, levels=[model.offset_], colors="tab:orange", linestyles="solid")
axes.plot(*X[label == 1].T, ".", color="0.2", markersize=3, label="usual rows")
axes.plot(*X[label == -1].T, "x", color="tab:red", label="outliers")
figure.colorbar(shades, label="score")
axes.set(xlabel="x1", ylabel="x2", title="Scores of an isolation forest and their threshold")
axes.legend(fontsize=9, loc="upper right")
plt.show()

# %%
# In a single tree, the leaf of a usual row lies deep, and that of a stray row near the root. The
# depths of one tree are noisy; the forest averages them.

usual, stray = group[:1], np.array([[5.5, -3.5]])
depths = [
    [tree.tree_.depth[tree.apply(row)[0]] for tree in model.estimators_] for row in (usual, stray)
]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
bins = np.arange(0, 10) - 0.5
axes.hist(depths, bins, label=["a usual row", "a row far from all others"])
axes.set(xlabel="depth of the leaf", ylabel="number of trees", title="Short paths isolate outliers")
axes.legend()
plt.show()
