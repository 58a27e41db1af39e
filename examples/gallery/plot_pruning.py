"""
Pruning a tree by cross-validation
==================================

A tree grown until its leaves are pure learns the noise too. Weakest-link pruning takes the tree
back step by step, always where a leaf less costs least; every step is the best tree at some price
per leaf. Rows that were held back say how far to go. Here a fifth of the labels of a striped square
are wrong.
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
# The error on learned rows only falls with the number of leaves; that on held-back rows falls, and
# rises again. The smallest tree within one standard error of the best is taken.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
pruning.plot(axes)
plt.show()

# %%
# What is left of the tree, with the questions it asks.

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
th.plot_tree(
    pruning.model, feature_names=["x₁", "x₂"], filled=True, rounded=True, missing=False, ax=axes
)
plt.show()

# %%
# Its regions are boxes along the axes. The whole tree has one for nearly every wrong label.

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
