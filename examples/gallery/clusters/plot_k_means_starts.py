"""
Starts of k-means, and how many clusters
========================================

k-means ends in a local minimum that depends on its start. Four kinds of starts are compared by the
losses that 40 starts of each reach. The curve of the loss over the number of clusters has its elbow
where further clusters only split groups; its band is that of the mean over starts. Steps with small
random batches of rows reach nearly the same loss. The gap statistic compares the loss with that of
rows without groups, and the stability the clusters of two halves of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import thetahat as th

turns = np.linspace(0, 2 * np.pi, 7)[:-1]
groups = np.vstack([[[0.0, 0.0]], 6 * np.stack([np.cos(turns), np.sin(turns)], axis=1)])
X = make_blobs(1200, centers=groups, cluster_std=0.9, random_state=0)[0]
starts = ("k-means++", "random", "random_centroids", "random_assignment")
models = {init: th.KMeans(7, init=init, n_init=40, random_state=0).fit(X) for init in starts}
best = min(models.values(), key=lambda model: model.inertia_)
worst = th.KMeans(7, init=X[np.argsort(X[:, 0])[:7]]).fit(X)

ks = np.arange(1, 15)
losses = [th.KMeans(k, n_init=20, random_state=0).fit(X).restarts_ for k in ks]
elbow = th.elbow(ks, losses)
count = th.how_many_clusters(X, k_max=10, n_references=10, n_halves=5, random_state=0)
batches = th.MiniBatchKMeans(7, batch_size=100, random_state=0).fit(X)

figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
for ax, model, title in (
    (axes[0, 0], best, f"best start: loss {best.inertia_:.0f}"),
    (axes[0, 1], worst, f"7 rows at the left: loss {worst.inertia_:.0f}"),
):
    ax.scatter(*X.T, c=model.labels_, cmap="tab10", s=4)
    ax.plot(*model.cluster_centers_.T, "k+", ms=12, mew=2)
    ax.set_title(title)
ax = axes[1, 0]
ax.boxplot(
    [models[init].restarts_ for init in starts],
    tick_labels=[each.replace("_", "\n") for each in starts],
)
ax.axhline(batches.inertia_, color="C3", lw=1, label="batches of 100 rows")
ax.set(ylabel="loss", title="losses of 40 starts")
ax.legend(frameon=False)
elbow.plot(axes[1, 1])
axes[1, 1].set_title(f"{elbow.agreement:.0%} of the starts agree on {int(elbow)} clusters")
count.plot(axes[1, 2])
axes[1, 2].set_title(str(count), fontsize=9)
soft = th.SoftKMeans(7, temperature=4.0, init=best.cluster_centers_).fit(X)
sure = soft.soft_assignment(X).max(axis=1)
points = axes[0, 2].scatter(*X.T, c=sure, s=4)
figure.colorbar(points, ax=axes[0, 2], label="largest share of a row")
axes[0, 2].set_title("soft k-means: rows between clusters are shared")
plt.show()
