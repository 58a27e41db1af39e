"""
Spectral clustering of rings and moons
======================================

k-means cuts the plane with straight lines, and so it divides rings and moons. Spectral clustering
joins every row with its nearest rows by edges of the weights exp(−γ‖xᵢ − xⱼ‖²), and clusters the
eigenvectors of the graph Laplacian I − D⁻¹W with the smallest eigenvalues. These are nearly
constant within each shape, as the right column shows: the shapes are compact groups there.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles, make_moons

import thetahat as th

SHAPES = {
    "rings": make_circles(400, factor=0.5, noise=0.06, random_state=0)[0],
    "moons": make_moons(400, noise=0.07, random_state=0)[0],
}

figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
for row, (name, X) in zip(axes, SHAPES.items(), strict=True):
    means = th.KMeans(2, random_state=0).fit(X)
    spectral = th.SpectralClustering(
        2, affinity="nearest_neighbors_rbf", n_neighbors=10, gamma=20.0, random_state=0
    ).fit(X)
    for ax, labels, title in zip(
        row, (means.labels_, spectral.labels_), ("k-means", "spectral clustering"), strict=False
    ):
        ax.scatter(*X.T, c=labels, s=8, cmap="coolwarm")
        ax.set(title=f"{name}: {title}", aspect="equal", xticks=[], yticks=[])
    for each, colour in ((0, "tab:blue"), (1, "tab:red")):
        chosen = spectral.labels_ == each
        row[2].plot(chosen.nonzero()[0], spectral.embedding_[chosen, 1], ".", ms=4, color=colour)
    row[2].set(title=f"second eigenvector, λ = {spectral.eigenvalues_[1]:.2g}", xlabel="row")
    row[2].set(yticks=[])
plt.show()
