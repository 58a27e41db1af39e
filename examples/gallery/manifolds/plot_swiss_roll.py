"""
The Swiss roll by several methods
=================================

The rows lie on a sheet that is rolled up in three dimensions. Colours show the position along the
sheet. Projections and classical scaling keep straight distances, so that the sheet stays rolled up.
Isomap measures distances along the sheet, by paths from neighbour to neighbour, and unrolls it.
Locally linear embedding keeps the weights that reconstruct a row from its neighbours; its modified
form distorts the sheet less. The last two methods keep coordinates of tangent planes, and make
second derivatives small.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

import thetahat as th

X, position = make_swiss_roll(1500, random_state=0)
methods = {
    "principal components": th.PCA(2),
    "classical scaling": th.ClassicalMDS(),
    "Isomap": th.Isomap(n_neighbors=10),
    "locally linear": th.LocallyLinearEmbedding(n_neighbors=12),
    "locally linear, modified": th.LocallyLinearEmbedding(n_neighbors=12, method="modified"),
    "tangent spaces": th.LocallyLinearEmbedding(n_neighbors=12, method="ltsa"),
    "second derivatives": th.LocallyLinearEmbedding(n_neighbors=12, method="hessian"),
}

figure = plt.figure(figsize=(13, 6), layout="constrained")
ax = figure.add_subplot(2, 4, 1, projection="3d")
ax.scatter(*X.T, c=position, s=4)
ax.view_init(10, -75)
ax.set(title="the rows", xticks=[], yticks=[], zticks=[])
for number, (title, model) in enumerate(methods.items(), 2):
    Z = model.fit_transform(X)
    ax = figure.add_subplot(2, 4, number)
    ax.scatter(*Z.T, c=position, s=4)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
