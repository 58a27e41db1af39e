"""
Hierarchies and where to cut them
=================================

Agglomerative clustering repeatedly merges the two nearest clusters. A dendrogram draws every merge
at its height, and can be cut at any height or number of clusters without a new fit. Ward linkage
finds compact groups, single linkage follows chains of near rows, and divisive clustering begins
with all rows and divides the widest cluster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

import thetahat as th

X = make_blobs(60, centers=[[0, 0], [4, 1], [2, 5]], cluster_std=0.8, random_state=1)[0]
models = {
    "Ward linkage": th.AgglomerativeClustering(3),
    "single linkage": th.AgglomerativeClustering(3, linkage="single"),
    "divisive": th.DivisiveClustering(3),
}

figure, axes = plt.subplots(2, 3, figsize=(13, 6.5), layout="constrained")
for (top, bottom), (name, model) in zip(axes.T, models.items(), strict=True):
    labels = model.fit_predict(X)
    model.dendrogram_.plot(top, n_clusters=3, labels=[""] * len(X))
    top.set_title(name)
    bottom.scatter(*X.T, c=[f"C{label}" for label in labels], s=20)
    bottom.set(xticks=[], yticks=[])
plt.show()

# %%
# Cuts of one hierarchy at other numbers of clusters:

tree = models["Ward linkage"].dendrogram_
for k in (2, 3, 5):
    print(k, "clusters above height", round(float(tree.heights[len(X) - k - 1]), 2))
