"""
Digits as sums of parts
=======================

Non-negative matrix factorisation writes every image as a sum of parts that are only added, never
subtracted. The parts are strokes. Principal components of the same images have both signs, so that
they cancel each other and look like no stroke.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X = load_digits().data
model = th.NMF(n_components=16, max_iter=500)
weights = model.fit_transform(X)
principal = th.PCA(n_components=16).fit(X)

figure, axes = plt.subplots(4, 9, figsize=(9, 4.4))
for axis in axes[:, 4]:
    axis.set_visible(False)
for place, axis in enumerate(axes[:, :4].flat):
    axis.imshow(model.components_[place].reshape(8, 8), cmap="gray_r")
for place, axis in enumerate(axes[:, 5:].flat):
    axis.imshow(principal.components_[place].reshape(8, 8), cmap="RdBu_r", vmin=-0.4, vmax=0.4)
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])
figure.text(0.29, 0.93, "non-negative parts", ha="center")
figure.text(0.74, 0.93, "principal components (red +, blue −)", ha="center")
plt.show()

# %%
# A digit is the sum of a few parts. The objective falls in every iteration, for the squared error
# as for the Kullback–Leibler divergence, which suits counts.

row = 3
largest = np.argsort(-weights[row])[:4]
figure, axes = plt.subplots(1, 7, figsize=(11, 2), width_ratios=[1, 1, 1, 1, 1, 1, 2.2])
axes[0].imshow(X[row].reshape(8, 8), cmap="gray_r")
axes[0].set_title("image")
for axis, part in zip(axes[1:5], largest, strict=True):
    axis.imshow(
        (weights[row, part] * model.components_[part]).reshape(8, 8), cmap="gray_r", vmax=16
    )
    axis.set_title(f"part {part}")
axes[5].imshow((weights[row] @ model.components_).reshape(8, 8), cmap="gray_r")
axes[5].set_title("sum of all")
for axis in axes[:6]:
    axis.set(xticks=[], yticks=[])
counts = th.NMF(16, solver="mu", beta_loss="kullback-leibler", tol=1e-3).fit(X)
for name, fitted in (("squared error", model), ("Kullback–Leibler", counts)):
    trace = np.array(fitted.solution_.trace)
    axes[6].loglog(1 + np.arange(len(trace)), trace / trace[0], label=name)
axes[6].set(xlabel="iteration", title="objective / first")
axes[6].legend(fontsize=7)
figure.tight_layout()
plt.show()

# %%
# Batches of rows give nearly the same parts. A step costs the same for any number of rows.

batches = th.MiniBatchNMF(16, batch_size=256, random_state=0).fit(X)
print(f"error {model.reconstruction_err_:.0f} from all rows, {batches.reconstruction_err_:.0f}")
print(f"from {batches.n_steps_} batches in {batches.n_iter_} passes over the rows")
