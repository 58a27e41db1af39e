"""
HDBSCAN: clusters of different densities
========================================

DBSCAN needs one radius for all clusters. Where a dense pair of clusters lies beside a sparse one, a
small radius calls the sparse cluster noise (grey), and a large one joins the pair. HDBSCAN looks at
all radii and keeps the clusters that last longest. The size of a point shows how strongly it
belongs to its cluster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

import thetahat as th

centres = [[0, 0], [1.6, 0], [6, 0]]
X = make_blobs([150, 150, 200], centers=centres, cluster_std=[0.2, 0.2, 1.2], random_state=0)[0]
model = th.HDBSCAN(min_cluster_size=20).fit(X)
results = {
    "DBSCAN, eps = 0.2": (th.DBSCAN(0.2).fit_predict(X), 10),
    "DBSCAN, eps = 0.7": (th.DBSCAN(0.7).fit_predict(X), 10),
    "HDBSCAN": (model.labels_, 2 + 14 * model.probabilities_),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
for ax, (title, (labels, size)) in zip(axes, results.items(), strict=True):
    noise = labels < 0
    ax.scatter(*X[noise].T, s=8, color="0.75")
    shown = size if title != "HDBSCAN" else size[~noise]
    ax.scatter(*X[~noise].T, s=shown, c=labels[~noise], cmap="tab10", vmin=0, vmax=9)
    ax.set_title(f"{title}: {labels.max() + 1} clusters, {noise.sum()} noise", fontsize=10)
    ax.set(xticks=[], yticks=[])
plt.show()
