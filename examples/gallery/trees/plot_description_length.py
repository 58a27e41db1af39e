"""
Pruning by the shortest description
===================================

Labels can be encoded one by one, or as a tree together with the rows that it gets wrong. A larger
tree needs more bits and leaves fewer exceptions. The sum is smallest where the tree stops
describing noise. No held-out rows are needed.
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
# The bits of the trees along the pruning path, from the root alone to the full tree.

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
# Labels that do not depend on the rows have the shortest description without a tree.

noise = np.random.default_rng(0).permutation(y)
print("noise:", th.prune(grown, X, noise, method="mdl").model.get_n_leaves(), "leaf")
