"""
Principal components of digits
==============================

The principal directions of pictures of digits are pictures themselves. A digit is the mean plus a
few of them. The number of components can be chosen by the explained variance, by comparison with
independent columns, or by the likelihood of rows that were not used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X, y = load_digits(return_X_y=True)
train, test = X[::2], X[1::2]
model = th.PCA().fit(train)
low, high = model.variance_intervals().T

counts = np.arange(1, 50, 4)
scores = [th.PCA(k).fit(train).score(test) for k in counts]
parallel = th.lowrank.parallel_analysis(train[:, train.std(axis=0) > 0], n_draws=20, random_state=0)

figure = plt.figure(figsize=(10, 6), layout="constrained")
grid = figure.add_gridspec(3, 8)
for k in range(8):
    ax = figure.add_subplot(grid[0, k])
    ax.imshow(model.components_[k].reshape(8, 8), cmap="RdBu", vmin=-0.4, vmax=0.4)
    ax.set_title(f"direction {k + 1}", fontsize=8)
    ax.set_axis_off()
for place, k in enumerate([1, 2, 4, 8, 16, 32, 48, 61]):
    few = th.PCA(k).fit(train)
    ax = figure.add_subplot(grid[1, place])
    ax.imshow(few.inverse_transform(few.transform(test[3:4])).reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{k} component{'s' * (k > 1)}", fontsize=8)
    ax.set_axis_off()

ax = figure.add_subplot(grid[2, :4])
shown = np.arange(1, 41)
ax.fill_between(shown, low[:40], high[:40], alpha=0.3, lw=0)
ax.plot(shown, model.explained_variance_[:40])
ax.set(yscale="log", xlabel="component", ylabel="variance", title="variances with 95% intervals")
ax = figure.add_subplot(grid[2, 4:])
ax.plot(counts, scores, "o-", ms=3)
ax.axvline(parallel.rank, color="C1", ls="--", label=f"parallel analysis: {parallel.rank}")
ax.set(xlabel="components", ylabel="log-likelihood", title="held-out rows")
ax.legend(fontsize=8)
plt.show()
