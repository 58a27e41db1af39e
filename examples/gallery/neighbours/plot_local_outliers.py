"""
Outliers beside dense and sparse clusters
=========================================

One threshold for distances cannot find outliers if the rows lie densely in one place and sparsely
in another. The local outlier factor compares the density around a row with that around its
neighbours: a small gap is unusual beside a dense cluster, and usual within a sparse one.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

rng = np.random.default_rng(0)
sparse = rng.normal([0.0, 0.0], 1.5, size=(120, 2))
dense = rng.normal([6.0, 1.0], 0.15, size=(120, 2))
strays = np.array([[5.0, 1.2], [6.8, 0.2], [3.5, 4.5]])
X = np.concatenate([sparse, dense, strays])

model = th.LocalOutlierFactor(n_neighbors=20)
label = model.fit_predict(X)
factor = -model.negative_outlier_factor_
print(f"{(label == -1).sum()} of {len(X)} rows are outliers.")
print("Factors of the three rows that were added:", factor[-3:].round(1))

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(*X[label == 1].T, ".", color="0.4", label="usual rows")
axes.plot(*X[label == -1].T, "x", color="tab:red", label="outliers")
axes.scatter(
    *X.T, s=60 * (factor - 1).clip(0), facecolors="none", edgecolors="tab:red", linewidths=0.6
)
axes.set(xlabel="x1", ylabel="x2", title="Larger circles: larger local outlier factors")
axes.legend(fontsize=9, loc="upper right")
plt.show()

# %%
# With ``novelty=True`` the model scores new rows. The border of the usual region follows both
# densities: it is wide around the sparse cluster and narrow around the dense one.

model = th.LocalOutlierFactor(n_neighbors=20, novelty=True).fit(X)
x, y = np.meshgrid(np.linspace(-6, 9, 300), np.linspace(-5, 6, 220))
score = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(*X.T, ".", color="0.6", markersize=3)
axes.contour(x, y, score, levels=[0.0], colors="tab:blue")
axes.set(xlabel="x1", ylabel="x2", title="New rows inside the lines are usual")
plt.show()
