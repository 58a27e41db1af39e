"""
Embed first, cluster then
=========================

Clusters of any shape become compact groups in a suitable embedding, where k-means or a Gaussian
mixture finds them. The rows are a disc within a ring. Principal components only turn the plane, so
that nothing is gained. The Gaussian kernel is nearly 0 for distant rows, and so the eigenvectors of
its centred matrix (kernel PCA) and of its graph Laplacian (spectral embedding) separate the shapes.
The upper pictures show the embedding, the lower ones the rows, with the colours of the clusters
that k-means finds in the first column of the embedding.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import thetahat as th

random = np.random.default_rng(0)
angle = random.uniform(0, 2 * np.pi, 600)
ring = np.repeat([0, 1], [200, 400])
radius = np.array([0.4, 2.0])[ring] + 0.12 * random.standard_normal(600)
X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])

EMBEDDINGS = {
    "PCA": th.PCA(2),
    "kernel PCA": th.KernelPCA(2, kernel="rbf", gamma=1.0),
    "spectral embedding": th.SpectralEmbedding(2, affinity="rbf", gamma=5.0),
}

figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
for (above, below), (name, embedding) in zip(axes.T, EMBEDDINGS.items(), strict=True):
    Z = embedding.fit_transform(X)
    labels = th.KMeans(2, n_init=5, random_state=0).fit_predict(Z[:, :1])
    agreement = adjusted_rand_score(ring, labels)
    above.scatter(*Z.T, c=labels, s=6, cmap="coolwarm")
    above.set(title=name, xticks=[], yticks=[])
    below.scatter(*X.T, c=labels, s=6, cmap="coolwarm")
    below.set(title=f"agreement with the shapes {agreement:.2f}", aspect="equal")
    below.set(xticks=[], yticks=[])
plt.show()
