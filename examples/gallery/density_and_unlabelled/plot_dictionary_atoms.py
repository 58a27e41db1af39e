"""
Dictionary learning on handwritten digits
=========================================

Dictionary learning finds atoms such that each row is a combination of only a few of them. Principal
components, in contrast, are directions of large variance that are all used together. With atoms and
codes that are not negative, the atoms look like parts of digits, and each digit is a sum of a few
parts.
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
# Left: all atoms. Right: digits, their reconstructions, and the number of atoms used.

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
