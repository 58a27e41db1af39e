"""
How well projections keep distances
===================================

A random projection keeps the distances between any rows up to a factor that depends on the number
of directions only. Principal components and truncated singular values depend on the rows, and keep
distances better if the rows lie near a subspace.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X = np.repeat(load_digits().data[:200], 8, axis=1)
X += np.random.default_rng(0).normal(scale=2.0, size=X.shape)


def distances(rows):
    upper = np.triu_indices(len(rows), 1)
    square = (rows**2).sum(axis=1)
    found = square[:, np.newaxis] + square - 2 * rows @ rows.T
    return np.sqrt(np.maximum(found[upper], 0))


before = distances(X)
models = {
    "Gaussian directions": th.GaussianRandomProjection,
    "sparse directions": th.SparseRandomProjection,
    "principal components": th.PCA,
    "truncated SVD": th.TruncatedSVD,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, k in zip(axes, [10, 100], strict=True):
    for name, estimator in models.items():
        ratio = distances(estimator(k, random_state=1).fit_transform(X)) / before
        style = "--" if name == "truncated SVD" else "-"
        bins = np.linspace(0, 1.8, 60)
        ax.hist(ratio, bins=bins, histtype="step", density=True, label=name, ls=style)
    ax.axvline(1, color="k", lw=0.6)
    ax.set(xlabel="distance after / before", title=f"{k} of {X.shape[1]} directions")
axes[0].set_ylabel("density of pairs")
axes[0].legend(fontsize=8)
batches = th.IncrementalPCA(10, batch_size=50).fit(X)
kept = batches.explained_variance_ratio_.sum()
print(f"Ten components from batches of 50 rows explain {kept:.1%} of the variance.")
plt.show()
