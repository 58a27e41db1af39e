"""
Pruning a tree by cross-validation
==================================

A tree that is grown until its leaves are pure also learns the noise. Weakest-link pruning removes
splits one after another, always the one that costs least; every tree of the sequence is optimal for
some price per leaf. Cross-validation chooses the size. Here a fifth of the labels of a striped
square are wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.random((600, 2))
truth = (np.floor(3 * X[:, 0]) % 2 == 1) & (X[:, 1] > 0.25)
y = np.where(random.random(600) < 0.2, ~truth, truth).astype(int)
grown = th.DecisionTreeClassifier(random_state=0).fit(X, y)
pruning = th.prune(grown, X, y, cv=10, one_standard_error=True)
print(pruning)

# %%
# The error on the training rows falls with the number of leaves; the error on held-out rows falls
# and then rises again. The smallest tree within one standard error of the best is chosen.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
pruning.plot(axes)
plt.show()

# %%
# The pruned tree with its splits.

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
th.plot_tree(
    pruning.model, feature_names=["x₁", "x₂"], filled=True, rounded=True, missing=False, ax=axes
)
plt.show()

# %%
# The regions of a tree are boxes parallel to the axes. The full tree has a box for almost every
# wrong label.

figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for axes, model, title in zip(panels, (grown, pruning.model), ("grown", "pruned"), strict=True):
    regions = th.tree_regions(model)
    for region in regions:
        low, high = np.maximum(region.low, 0.0), np.minimum(region.high, 1.0)
        color = "tab:orange" if region.value[0].argmax() else "tab:blue"
        axes.add_patch(
            plt.Rectangle(low, *(high - low), facecolor=color, alpha=0.35, edgecolor="white")
        )
    axes.scatter(*X.T, s=6, c=np.where(y == 1, "tab:orange", "tab:blue"))
    axes.set(title=f"{title}: {len(regions)} regions", xlim=(0, 1), ylim=(0, 1), xlabel="x₁")
panels[0].set_ylabel("x₂")
plt.show()
