"""
Soft k-means: the temperature
=============================

In soft k-means every row belongs to all clusters, in shares that fall with its squared distance
from the centres, divided by the temperature. A low temperature gives the clusters of k-means. As it
rises, rows between the groups are shared, and at last all centres meet at the mean.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import thetahat as th

X = make_blobs(600, centers=[[0, 0], [4, 0], [2, 3.5]], cluster_std=0.9, random_state=0)[0]
start = th.KMeans(3, random_state=0).fit(X).cluster_centers_
temperatures = np.geomspace(0.05, 50, 40)
paths = np.array([
    th.SoftKMeans(3, temperature=each, init=start, max_iter=3000).fit(X).cluster_centers_
    for each in temperatures
])  # fmt: skip

figure, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
for ax, temperature in zip(axes, (0.1, 2.0, 6.0), strict=False):
    model = th.SoftKMeans(3, temperature=temperature, init=start, max_iter=3000).fit(X)
    ax.scatter(*X.T, c=np.clip(model.soft_assignment(X), 0, 1), s=8)
    ax.plot(*model.cluster_centers_.T, "k+", ms=12, mew=2)
    ax.set_title(f"temperature {temperature:g}")
spread = np.linalg.norm(paths - X.mean(axis=0), axis=2)
axes[3].semilogx(temperatures, spread)
axes[3].set(xlabel="temperature", ylabel="distance from the mean", title="the three centres")
plt.show()
