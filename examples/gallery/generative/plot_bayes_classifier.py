"""
A Bayes classifier from any density
===================================

Fit one density to the rows of each class, and Bayes' rule gives the probabilities of the classes.
The colours show the predicted class, pale where it is unsure; outside the dashed line a row is
novel: its density p(x) is below that of 99 % of the held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

import thetahat as th

X, y = make_moons(900, noise=0.18, random_state=0)
X, new, y, labels = train_test_split(X, y, random_state=0)

gaussian = {"criterion": "entropy", "leaf": "gaussian", "margin": np.inf}
densities = {
    "kernel density": th.KernelDensity(bandwidth="cross_validation"),
    "histogram": th.Histogram(bins=8, margin=0.3, smoothing=0.05),
    "density tree": th.DensityTree(**gaussian, tau=1.5),
    "density forest": th.DensityForest(50, tau=1.5, random_state=0),
}

across, up = np.linspace(-2, 3, 200), np.linspace(-1.5, 2, 150)
grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)

figure, panels = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
for axes, (name, density) in zip(panels.flat, densities.items(), strict=True):
    model = th.BayesClassifier(density).fit(X, y)
    share = model.predict_proba(grid)[:, 1].reshape(150, 200)
    axes.imshow(share, origin="lower", extent=(-2, 3, -1.5, 2), cmap="RdBu", vmin=0, vmax=1,
                alpha=0.6, aspect="auto")  # fmt: skip
    threshold = model.novelty_threshold(new, share=0.01)
    novelty = np.minimum(model.novelty(grid), 1e3).reshape(150, 200)
    axes.contour(across, up, novelty, [min(threshold, 900)], colors="black", linestyles="--")
    axes.scatter(*X.T, c=y, cmap="RdBu", s=5)
    axes.set_title(f"{name}: {model.score(new, labels):.1%} correct", fontsize=10)
    axes.set(xticks=[], yticks=[])
plt.show()

# %%
# The model draws new rows with labels.

model = th.BayesClassifier(densities["kernel density"]).fit(X, y)
rows, classes = model.sample(600, random_state=0)
figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
axes.scatter(*rows.T, c=classes, cmap="RdBu", s=5)
axes.set(title="synthetic rows", xticks=[], yticks=[])
plt.show()
