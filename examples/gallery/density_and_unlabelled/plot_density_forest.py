"""
From a density tree to a density forest
=======================================

The density of one tree jumps at the borders of its cells. The average over trees with other rows
and other random splits has no such jumps, and gives new rows a higher likelihood. Gaussian leaves
without an outer border make p(x) > 0 everywhere.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th


def spirals(n, seed):
    random = np.random.default_rng(seed)
    turn = np.sqrt(random.uniform(0.05, 1.0, n)) * 3.2 * np.pi
    side = random.choice([0.0, np.pi], n)
    place = np.column_stack([np.cos(turn + side), np.sin(turn + side)]) * turn[:, None] / 4
    return place + 0.12 * random.standard_normal((n, 2))


X, new = spirals(2000, seed=0), spirals(2000, seed=1)
models = {
    "one tree, uniform leaves": th.DensityTree("uniformity", margin=0.1, tau=6),
    "50 trees, uniform leaves": th.DensityForest(
        50, criterion="uniformity", leaf="uniform", margin=0.1, tau=6, random_state=0
    ),
    "one tree, Gaussian leaves": th.DensityTree(
        "entropy", leaf="gaussian", margin=np.inf, tau=3, random_state=0
    ),
    "50 trees, Gaussian leaves": th.DensityForest(50, tau=3, random_state=0),
}

# %%
# The number is the mean log-likelihood of 2000 new rows.

axis = np.linspace(-3.2, 3.2, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)

figure, panels = plt.subplots(2, 2, figsize=(7, 7), layout="constrained")
for axes, (name, model) in zip(panels.flat, models.items(), strict=True):
    density = np.exp(model.fit(X).log_density(grid)).reshape(120, 120)
    axes.imshow(density, origin="lower", extent=(-3.2, 3.2) * 2, cmap="Blues", vmax=0.25)
    counted = new[np.isfinite(model.log_density(new))]
    axes.set_title(f"{name}: {model.score(counted):.2f}", fontsize=10)
    axes.set(xticks=[], yticks=[])
plt.show()

# %%
# To sample from the density: choose a tree, then a leaf by its mass, then a point inside the leaf.

forest = models["50 trees, Gaussian leaves"]
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
left.plot(*X.T, ".", color="black", markersize=1)
left.set_title("rows", fontsize=10)
right.plot(*forest.sample(2000, random_state=0).T, ".", color="tab:blue", markersize=1)
right.set_title("samples from the forest", fontsize=10)
for axes in (left, right):
    axes.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xticks=[], yticks=[])
plt.show()
