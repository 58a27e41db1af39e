"""
Digits by t-SNE, principal components and Isomap
================================================

Every image of a handwritten digit is a row of 64 grey values. Principal components and Isomap keep
distances between distant images, and the ten digits overlap in two dimensions. t-SNE keeps only
which images are neighbours, and the digits form separate groups. The trustworthiness measures how
many neighbours in a picture are neighbours among the images. Distances between the groups of
t-SNE, and their sizes, have no meaning.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import thetahat as th

X, digit = load_digits(return_X_y=True)
methods = {
    "principal components": th.PCA(2),
    "Isomap": th.Isomap(n_neighbors=10),
    "t-SNE": th.TSNE(random_state=0),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4.5), layout="constrained")
for ax, (title, model) in zip(axes, methods.items(), strict=True):
    Z = model.fit_transform(X)
    found = ax.scatter(*Z.T, c=digit, cmap="tab10", vmin=-0.5, vmax=9.5, s=5)
    trust = th.trustworthiness(X, Z)
    ax.set(title=f"{title}, trustworthiness {trust:.2f}", xticks=[], yticks=[])
figure.colorbar(found, ax=axes, ticks=range(10), label="digit")
plt.show()

# %%
# The divergence falls while the points move. The first 250 iterations pull neighbours together more
# strongly than the objective asks for, and the groups separate afterwards.

trace = methods["t-SNE"].solution_.trace
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(trace)
ax.axvline(250, color="gray", linestyle="--")
ax.set(xlabel="iteration", ylabel="divergence", title="early exaggeration ends at the dashed line")
plt.show()
