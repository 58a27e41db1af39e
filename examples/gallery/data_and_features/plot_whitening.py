"""
Standardising and whitening
===========================

Standardising gives each column mean 0 and variance 1, but the columns stay correlated. Whitening
also removes the correlation. The symmetric root Σ^{-1/2} changes the rows as little as possible;
the Cholesky factor keeps the direction of the first axis.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
cloud = random.standard_normal((300, 2)) @ np.array([[2.0, 1.4], [0.0, 0.6]]) + [3.0, 1.0]
views = {
    "as measured": cloud,
    "Standardizer": th.Standardizer().fit_transform(cloud),
    "Whitening, symmetric": th.Whitening(method="symmetric").fit_transform(cloud),
    "Whitening, Cholesky": th.Whitening(method="cholesky").fit_transform(cloud),
}

# %%
# The colour shows the first measured coordinate, so that rotations and shears are visible.

figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axes, (name, rows) in zip(panels, views.items(), strict=True):
    axes.scatter(rows[:, 0], rows[:, 1], c=cloud[:, 0], s=8)
    axes.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    axes.axvline(0.0, color="0.8", lw=0.8, zorder=0)
    axes.set(title=name, aspect="equal")
plt.show()
