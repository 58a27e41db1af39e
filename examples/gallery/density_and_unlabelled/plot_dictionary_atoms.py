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

figure = plt.figure(figsize=(9, 4.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(3, 1))
used = np.argsort(-codes.sum(axis=0))
for axis, atom in zip(left.subplots(6, 6).ravel(), model.components_[used], strict=True):
    axis.imshow(atom.reshape(8, 8), cmap="Greys")
    axis.axis("off")
rows = [0, 1, 3, 5, 8]
drawn = model.inverse_transform(codes[rows])
for axes, row, drawing in zip(right.subplots(5, 2), rows, drawn, strict=True):
    axes[0].imshow(X[row].reshape(8, 8), cmap="Greys")
    axes[1].imshow(drawing.reshape(8, 8), cmap="Greys")
    axes[1].set_title(f"{np.count_nonzero(codes[row])} atoms", fontsize=8)
    for axis in axes:
        axis.axis("off")
plt.show()

# %%
# With many rows, batches are faster: the atoms change after every few rows, not after a pass over
# all of them. The objective per row of the batches falls quickly, and then only scatters.

mini = th.MiniBatchDictionaryLearning(
    36, alpha=0.3, batch_size=128, positive_code=True, positive_dict=True, random_state=0,
    transform_algorithm="lasso_cd",
).fit(X)  # fmt: skip
for name, each in (("all rows", model), ("batches", mini)):
    U = each.transform(X)
    error = 0.5 * ((X - each.inverse_transform(U)) ** 2).sum() + 0.3 * U.sum()
    print(f"{name}: objective per row {error / len(X):.4f}")
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.plot(mini.solution_.trace)
axis.set(xlabel="batch", ylabel="objective per row", title=f"{mini.n_iter_} passes over the rows")
plt.show()

# %%
# `SparseCoder` codes rows with atoms that are given: here the eight rows of the picture and all
# single pixels. Matching pursuit takes four atoms per digit.

pixels = np.eye(64)
strokes = np.array([np.repeat(np.eye(8)[i], 8) for i in range(8)]) / np.sqrt(8)
coder = th.SparseCoder(np.vstack([strokes, pixels]), transform_n_nonzero_coefs=4)
given = coder.transform(X)
share = (given[:, :8] != 0).sum() / np.count_nonzero(given)
print(f"{share:.0%} of the atoms in use are whole rows of the picture")
