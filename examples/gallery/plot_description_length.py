"""
The shortest description of the labels
======================================

Someone knows the rows and wants the labels. One may send them one by one, or send a tree and then
the rows that it gets wrong. A larger tree costs more bits and leaves fewer exceptions; the sum is
least where the tree stops describing noise. No held-back rows are needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import thetahat as th

X, y = load_breast_cancer(return_X_y=True)
grown = th.DecisionTreeClassifier(random_state=0).fit(X, y)
shortest = th.prune(grown, X, y, method="mdl")
print("grown: ", th.description_length(grown, X, y))
print("pruned:", th.description_length(shortest.model, X, y))

# %%
# The bits of the trees along the path of pruning, from the root alone to the whole tree.

lengths = [
    th.description_length(th.prune(grown, X, y, method="mdl", alpha=max(0.0, alpha)).model, X, y)
    for alpha in shortest.levels
]
leaves = shortest.n_leaves
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(leaves, [length.total for length in lengths], "o-", label="in all")
axes.plot(leaves, [length.tree_bits for length in lengths], "s--", label="the tree")
axes.plot(leaves, [length.exception_bits for length in lengths], "^--", label="its exceptions")
axes.axvline(leaves[shortest.best], color="black", lw=0.8, ls=":")
axes.set(xlabel="leaves", ylabel="bits", ylim=(0, None))
axes.legend(frameon=False)
plt.show()

# %%
# Labels that have nothing to do with the rows are cheapest without a tree.

noise = np.random.default_rng(0).permutation(y)
print("noise:", th.prune(grown, X, noise, method="mdl").model.get_n_leaves(), "leaf")
