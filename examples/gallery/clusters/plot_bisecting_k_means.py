"""
Bisecting k-means: clusters by division
=======================================

`BisectingKMeans` divides one cluster in two at a time, here the one with the largest loss. The
clusters of 4 are parts of those of 2, and those of 8 parts of those of 4. `KMeans` finds all
clusters at once, so that its boundaries (below) are different for each number.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

import thetahat as th

X = make_blobs(900, centers=9, cluster_std=1.1, random_state=4)[0]
counts = (2, 4, 8)

figure, axes = plt.subplots(2, 3, figsize=(11, 6.5), layout="constrained")
for line, clusterer in zip(axes, (th.BisectingKMeans, th.KMeans), strict=True):
    for ax, k in zip(line, counts, strict=True):
        model = clusterer(k, random_state=0).fit(X)
        ax.scatter(*X.T, c=model.labels_, s=6, cmap="tab10", vmin=0, vmax=9)
        ax.plot(*model.cluster_centers_.T, "k+", ms=11, mew=2)
        ax.set_title(f"{clusterer.__name__}, {k} clusters: loss {model.inertia_:,.0f}", fontsize=10)
        ax.set(xticks=[], yticks=[])
plt.show()
