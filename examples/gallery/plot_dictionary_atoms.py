"""
Atoms of handwritten digits
===========================

Dictionary learning looks for atoms of which each row needs only a few, where principal components
look for directions of large variance and use them all. With atoms and codes that cannot be negative
nothing cancels: the atoms look like pieces and kinds of digits, and a digit is a handful of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X = load_digits().data / 16.0
model = th.DictionaryLearning(
    36, alpha=0.3, max_iter=60, tol=1e-4, positive_code=True, positive_dict=True,
    transform_algorithm="lasso_cd",
).fit(X)  # fmt: skip
codes = model.transform(X)
print(f"{model.n_iter_} rounds; a digit uses {np.count_nonzero(codes, axis=1).mean():.1f} atoms")

# %%
# All atoms on the left. On the right, digits, what their few atoms make of them, and how many.

figure = plt.figure(figsize=(10, 4.6), layout="constrained")
left, right = figure.subfigures(1, 2)
used = np.argsort(-codes.sum(axis=0))
for axis, atom in zip(left.subplots(6, 6).ravel(), model.components_[used], strict=True):
    axis.imshow(atom.reshape(8, 8), cmap="Greys")
    axis.axis("off")
rows = [0, 1, 3, 5, 8]
drawn = model.inverse_transform(codes[rows])
for axes, row, drawing in zip(right.subplots(5, 2), rows, drawn, strict=True):
    axes[0].imshow(X[row].reshape(8, 8), cmap="Greys")
    axes[1].imshow(drawing.reshape(8, 8), cmap="Greys")
    axes[1].set_title(f"{np.count_nonzero(codes[row])} atoms", fontsize=8, loc="right")
    for axis in axes:
        axis.axis("off")
plt.show()
