"""
Standardising and whitening
===========================

Standardising gives each column mean 0 and variance 1, and leaves the columns correlated. Whitening
takes the correlation away as well: by the symmetric root Σ^{-1/2}, which turns the cloud as little
as possible, or by the Cholesky factor, which keeps the first axis.
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
# Colour follows the first coordinate as measured, so that turns and shears can be seen.

figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axes, (name, rows) in zip(panels, views.items(), strict=True):
    axes.scatter(rows[:, 0], rows[:, 1], c=cloud[:, 0], s=8)
    axes.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    axes.axvline(0.0, color="0.8", lw=0.8, zorder=0)
    axes.set(title=name, aspect="equal")
plt.show()
