"""
DBSCAN: the radius decides what is dense
========================================

DBSCAN calls a row a core row if enough rows lie within the radius ``eps``. Core rows within the
radius of each other form a cluster of any shape, and the rows that no core row reaches are noise
(grey). With a small radius most rows are noise; with a large one the clusters grow together.

The sorted distances to the fifth nearest row help to choose the radius: it should lie where the
curve bends, because rows to the right of the bend are far from all others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import thetahat as th

random = np.random.default_rng(0)
moons = make_moons(400, noise=0.06, random_state=0)[0]
X = np.vstack([moons, random.uniform([-1.5, -1], [2.5, 1.5], (60, 2))])

figure, axes = plt.subplots(1, 4, figsize=(14, 3.4), layout="constrained")
for ax, eps in zip(axes, (0.06, 0.14, 0.3), strict=False):
    model = th.DBSCAN(eps).fit(X)
    noise = model.labels_ < 0
    ax.scatter(*X[noise].T, s=6, color="0.75")
    ax.scatter(*X[~noise].T, s=8, c=model.labels_[~noise], cmap="tab10", vmin=0, vmax=9)
    n_clusters = model.labels_.max() + 1
    ax.set_title(f"eps = {eps}: {n_clusters} clusters, {noise.sum()} noise", fontsize=10)
    ax.set(xticks=[], yticks=[])

far = np.sort(th.NearestNeighbors(n_neighbors=5).fit(X).kneighbors(X)[0][:, -1])
axes[3].plot(far)
axes[3].axhline(0.14, color="C3", linewidth=1, label="eps = 0.14")
axes[3].set(xlabel="rows, sorted", ylabel="distance to the 5th nearest row")
axes[3].legend()
plt.show()
