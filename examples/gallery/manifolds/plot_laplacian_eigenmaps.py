"""
Unrolling a spiral with Laplacian eigenmaps
===========================================

Each row is joined with its nearest rows, and the embedding changes little along these edges. The
graph follows the sheet and not the space between its turns, so that the first coordinate is the
position along the spiral. Principal components are directions of the space and cannot do this.
Random walks along the edges show the same: after 100 steps (``diffusion_steps``) columns with
larger eigenvalues have shrunk, so that distances show coarse structure.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

import thetahat as th

X, position = make_swiss_roll(1500, noise=0.05, random_state=0)

plain = th.SpectralEmbedding(6, n_neighbors=12).fit(X)
walked = th.SpectralEmbedding(6, n_neighbors=12, diffusion_steps=100).fit(X)
components = th.PCA(2).fit_transform(X)

figure, axes = plt.subplots(1, 4, figsize=(15, 3.8), layout="constrained")
axes[0].scatter(X[:, 0], X[:, 2], c=position, s=4)
axes[0].set(title="the sheet, seen from its side", aspect="equal", xticks=[], yticks=[])
axes[1].scatter(*components.T, c=position, s=4)
axes[1].set(title="principal components", aspect="equal", xticks=[], yticks=[])
axes[2].scatter(position, plain.embedding_[:, 0], c=position, s=4)
axes[2].set(title="first eigenvector", xlabel="position along the spiral", yticks=[])
columns = range(1, 7)
for model, label in ((plain, "no steps"), (walked, "100 steps")):
    spread = model.embedding_.std(axis=0)
    axes[3].plot(columns, spread / spread[0], "o-", label=label)
axes[3].set(title="spread relative to the first", xlabel="column of the embedding", ylim=(0, None))
axes[3].legend()
plt.show()
