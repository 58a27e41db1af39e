"""
Novelty detection: rows with a low density
==========================================

The novelty of a row is −log p(x). A density forest learns the usual rows; the threshold is the
novelty that only one in a hundred held-out rows exceeds. Rows beyond it are reported as new, also
those between the clusters, where every single column has a usual value.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
centres = np.array([[-2.0, -1.0], [2.0, 1.2], [-1.5, 2.5]])
spread = np.array([[[0.5, 0.3], [0.0, 0.4]], [[0.7, -0.4], [0.0, 0.3]], [[0.3, 0.0], [0.0, 0.5]]])


def usual(n):
    kind = random.integers(0, 3, n)
    return centres[kind] + np.einsum("nj,njk->nk", random.standard_normal((n, 2)), spread[kind])


train, held_out, test = usual(2000), usual(2000), usual(500)
strange = random.uniform(-5, 5, (40, 2))

forest = th.DensityForest(50, random_state=0).fit(train)
threshold = forest.novelty_threshold(held_out, share=0.01)
alarms = forest.novelty(test) > threshold
found = forest.novelty(strange) > threshold

# %%
# Shades and contours show the novelty; the black line is the threshold.

axis = np.linspace(-5, 5, 200)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
novelty = forest.novelty(grid).reshape(200, 200)

figure, axes = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
shades = axes.contourf(
    axis, axis, novelty, levels=np.arange(1, 19, 1.5), cmap="Blues_r", extend="max"
)
axes.contour(axis, axis, novelty, levels=[threshold], colors="black", linewidths=1)
axes.plot(*test[~alarms].T, ".", color="white", markersize=2, label="usual rows")
axes.plot(
    *test[alarms].T, "x", color="tab:red", markersize=5, label=f"false alarms: {alarms.mean():.1%}"
)
axes.plot(
    *strange.T,
    "o",
    color="tab:orange",
    markersize=4,
    label=f"strange rows, {found.mean():.0%} found",
)
axes.legend(loc="lower right", facecolor="0.8", fontsize=9)
axes.set(xticks=[], yticks=[])
figure.colorbar(shades, ax=axes, label="novelty −log p(x)")
plt.show()
