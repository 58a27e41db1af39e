"""
Clusters of any shape
=====================

Which clustering fits which shape? k-means cuts the plane into cells around centres, which suits
round clusters of similar width. Agglomerative clustering with single linkage, spectral clustering,
DBSCAN and HDBSCAN follow the shape of the data. Single linkage is misled by a few rows between
clusters, and DBSCAN by clusters of different densities; HDBSCAN copes with both. DBSCAN and HDBSCAN
find the number of clusters themselves, and call some rows noise (grey).

The number below each picture is the adjusted Rand index, which compares the clusters with the
groups from which the rows were drawn: 1 if they are the same, about 0 for random labels.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import thetahat as th

tables = {
    "moons": make_moons(400, noise=0.06, random_state=0),
    "circles": make_circles(400, factor=0.5, noise=0.05, random_state=0),
    "varied blobs": make_blobs(
        400, centers=[[-2, 0], [0, 1.2], [2.5, -1]], cluster_std=[0.9, 0.15, 0.35], random_state=3
    ),
}


def models(k):
    """One model of each kind; the tables differ in the number of clusters alone."""
    return {
        "KMeans": th.KMeans(k, random_state=0),
        "single linkage": th.AgglomerativeClustering(k, linkage="single"),
        "SpectralClustering": th.SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=12, random_state=0
        ),
        "DBSCAN": th.DBSCAN(eps=0.3),
        "HDBSCAN": th.HDBSCAN(min_cluster_size=15, min_samples=5),
    }


figure, axes = plt.subplots(3, 5, figsize=(14, 8), layout="constrained")
for line, (name, (X, y)) in zip(axes, tables.items(), strict=True):
    for ax, (title, model) in zip(line, models(len(set(y))).items(), strict=True):
        labels = model.fit_predict(th.Standardizer().fit_transform(X))
        noise = labels < 0
        ax.scatter(*X[noise].T, s=6, color="0.75")
        ax.scatter(*X[~noise].T, s=6, c=labels[~noise], cmap="tab10", vmin=0, vmax=9)
        ax.set(xticks=[], yticks=[], title=title if name == "moons" else "")
        ax.set_xlabel(f"{adjusted_rand_score(y, labels):.2f}")
    line[0].set_ylabel(name)
plt.show()
