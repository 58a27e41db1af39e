"""
A map of cities from distances alone
====================================

Classical scaling finds points whose distances are the given ones, up to rotation and reflection.
Distances along the surface of the Earth are nearly those of a plane map over a continent. Stress
minimisation also works when only the order of the distances is known: the third map is made from
the ranks of the distances, and is nearly the same.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

CITIES = {
    "Lisbon": (38.7, -9.1), "Madrid": (40.4, -3.7), "Paris": (48.9, 2.4), "London": (51.5, -0.1),
    "Dublin": (53.3, -6.3), "Berlin": (52.5, 13.4), "Rome": (41.9, 12.5), "Athens": (38.0, 23.7),
    "Vienna": (48.2, 16.4), "Warsaw": (52.2, 21.0), "Oslo": (59.9, 10.8), "Helsinki": (60.2, 24.9),
    "Kyiv": (50.5, 30.5), "Bucharest": (44.4, 26.1), "Stockholm": (59.3, 18.1),
}  # fmt: skip
place = np.radians(list(CITIES.values()))
D = 6371 * th.distances.Haversine().pairwise(place)
ranks = np.zeros_like(D)
upper = np.triu_indices(len(D), 1)
ranks[upper] = D[upper].argsort().argsort() + 1.0
ranks += ranks.T

maps = {
    "classical scaling": th.ClassicalMDS(metric="precomputed").fit(D),
    "least stress": th.MDS(metric="precomputed", init="classical_mds").fit(D),
    "ordinal: ranks only": th.MDS(
        metric="precomputed", metric_mds=False, init="classical_mds", max_iter=3000
    ).fit(ranks),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
east_north = np.column_stack([place[:, 1], place[:, 0]])
east_north -= east_north.mean(axis=0)
for ax, (title, model) in zip(axes, maps.items(), strict=True):
    Z = model.embedding_ - model.embedding_.mean(axis=0)
    U, _, V = np.linalg.svd(Z.T @ east_north)  # the rotation that puts north up
    Z = Z @ (U @ V)
    ax.plot(*Z.T, "o", ms=4)
    for name, (x, y) in zip(CITIES, Z, strict=True):
        ax.annotate(name, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=8)
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])
    ax.margins(0.15)
plt.show()
