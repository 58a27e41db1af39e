"""
Pictures with missing pixels
============================

Half of the pixels of these digits are missing. Probabilistic principal components are fitted to the
pixels that are left, without filling in the others first, and each missing pixel is estimated by
its expected value given the pixels of the same picture.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X = load_digits().data
rng = np.random.default_rng(0)
holes = np.where(rng.random(X.shape) < 0.5, np.nan, X)
train, test, truth = holes[:1500], holes[1500:], X[1500:]

model = th.ProbabilisticPCA(n_components=12).fit(train)
full = model.complete(test)

figure, axes = plt.subplots(3, 10, figsize=(10, 3.4), layout="constrained")
for row, (name, pictures) in enumerate((("seen", test), ("completed", full), ("truth", truth))):
    axes[row, 0].set_ylabel(name)
    for axis, picture in zip(axes[row], pictures, strict=False):
        axis.imshow(np.ma.masked_invalid(picture.reshape(8, 8)), cmap="gray_r", vmin=0, vmax=16)
        axis.set(xticks=[], yticks=[], facecolor="#f2c14e")
plt.show()

# %%
# The likelihood of the observed pixels of new pictures compares numbers of components without any
# complete picture. Here the truth is known, too: the error of the hidden pixels is smallest for 12
# components, while the likelihood still increases slowly. Principal components of pictures that
# were filled in by the means of the pixels have a larger error, whatever their number.

counts = [1, 2, 4, 6, 8, 12, 16]
hidden = np.isnan(test)
scores, errors, naive = [], [], []
mean = np.nanmean(train, axis=0)
for k in counts:
    fitted = th.ProbabilisticPCA(k).fit(train)
    scores.append(fitted.score(test))
    errors.append(np.sqrt(np.mean((fitted.complete(test) - truth)[hidden] ** 2)))
    plain = th.PCA(k).fit(np.where(np.isnan(train), mean, train))
    filled = np.where(hidden, mean, test)
    guess = plain.inverse_transform(plain.transform(filled))
    naive.append(np.sqrt(np.mean((guess - truth)[hidden] ** 2)))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
left.plot(counts, scores, "o-")
left.set(xlabel="components", ylabel="mean log p", title="observed pixels of new pictures")
right.plot(counts, errors, "o-", label="probabilistic PCA")
right.plot(counts, naive, "o-", label="PCA of pictures filled by means")
right.axhline(
    np.sqrt(np.mean((np.broadcast_to(mean, truth.shape) - truth)[hidden] ** 2)),
    color="gray",
    label="means",
)
right.set(xlabel="components", ylabel="error", title="hidden pixels of new pictures")
right.legend(loc="center right", bbox_to_anchor=(1.0, 0.7))
plt.show()
print(
    f"12 components: {model.n_iter_} iterations, noise {model.noise_variance_**0.5:.2f} grey levels"
)
