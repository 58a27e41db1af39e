"""
The Swiss roll by several methods
=================================

The rows lie on a sheet that is rolled up in three dimensions. Colours show the position along the
sheet. Projections and classical scaling keep straight distances, so that layers of the roll lie on
top of each other. Isomap measures distances along the sheet, by paths from neighbour to neighbour,
and unrolls it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

import thetahat as th

X, position = make_swiss_roll(800, random_state=0)
methods = {
    "principal components": th.PCA(2),
    "classical scaling": th.ClassicalMDS(),
    "Isomap": th.Isomap(n_neighbors=10),
}

figure = plt.figure(figsize=(10, 7), layout="constrained")
ax = figure.add_subplot(2, 2, 1, projection="3d")
ax.scatter(*X.T, c=position, s=6)
ax.view_init(10, -75)
ax.set(title="the rows", xticks=[], yticks=[], zticks=[])
for number, (title, model) in enumerate(methods.items(), 2):
    Z = model.fit_transform(X)
    ax = figure.add_subplot(2, 2, number)
    ax.scatter(*Z.T, c=position, s=6)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
