"""
Faces and black and white pictures at low rank
==============================================

A picture of 65,000 pixels is a row of 65,000 numbers. If the rows are faces, 150 principal
components describe each of them well: a face becomes the mean plus a weighted sum of 150
"eigenfaces". A single picture is a matrix itself, and its best matrix of rank k needs far fewer
numbers. The faces are drawn by a small program.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import thetahat as th

HEIGHT, WIDTH, FACES = 260, 250, 200


def soft(distance, width=0.02):
    """1 inside a shape, 0 outside, with a smooth edge."""
    return np.clip(0.5 - distance / (4 * width), 0, 1)


def face(random):
    """A face with its own shape, features, shades and light."""
    b, a = np.mgrid[-1.04 : 1.04 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j].astype(np.float32)
    a = a - random.normal(0, 0.02)
    b = b - random.normal(0, 0.02)
    width, height = random.normal(0.62, 0.04), random.normal(0.82, 0.04)
    skin, hair = random.uniform(0.55, 0.9), random.uniform(0.05, 0.5)
    light = random.normal(0, 0.12)
    head = soft(np.hypot(a / width, b / height) - 1, 0.04)
    hairline = random.normal(-0.5, 0.07) + random.normal(0, 0.25) * a**2
    picture = 0.98 + head * (skin + light * a - 0.1 * np.hypot(a, b) - 0.98)
    picture += head * soft(b - hairline, 0.04) * (hair - skin)
    apart, level = random.normal(0.26, 0.02), random.normal(-0.14, 0.02)
    open_, large = random.normal(0.06, 0.012), random.normal(0.12, 0.01)
    look, brow = random.normal(0, 0.02), random.normal(0.14, 0.015)
    slope = random.normal(0, 0.15)
    for side in (-1, 1):
        x, y = a - side * apart, b - level
        eye = soft(np.hypot(x / large, y / open_) - 1, 0.1)
        pupil = soft(np.hypot(x - look, y) - 0.8 * open_, 0.012)
        picture += eye * (0.95 - picture)
        picture += eye * pupil * (0.1 - picture)
        line = np.hypot(x / 0.15, (y + brow + slope * side * x) / 0.022) - 1
        picture += soft(line, 0.3) * (hair - picture)
    nose = np.hypot(a / random.normal(0.05, 0.008), (b - 0.12) / random.normal(0.17, 0.02)) - 1
    picture -= 0.12 * soft(nose, 0.25)
    smile, wide = random.normal(0.3, 0.3), random.normal(0.2, 0.025)
    lips = np.hypot(a / wide, (b - 0.46 + smile * (a**2 - 0.02)) / random.normal(0.04, 0.008)) - 1
    picture += soft(lips, 0.2) * (random.uniform(0.3, 0.5) - picture)
    return picture.ravel()


random = np.random.default_rng(0)
X = np.array([face(random) for _ in range(FACES)], dtype=np.float32)
X, X_new = X[:-20], X[-20:]

# %%
# The components are fitted to 180 faces; the 20 others are new.

model = th.PCA(150, random_state=0).fit(X)
ranks = [5, 20, 50, 150]
centred = X_new - model.mean_
weights = centred @ model.components_.T
kept = {
    k: 1 - np.sum((centred - weights[:, :k] @ model.components_[:k]) ** 2) / np.sum(centred**2)
    for k in ranks
}
print(f"A face has {X.shape[1]:,} pixels; its weights are {weights.shape[1]} numbers.")
for k, share in kept.items():
    print(f"{k} eigenfaces explain {share:.1%} of the variation of new faces.")

figure, axes = plt.subplots(2, 6, figsize=(10, 3.9), layout="constrained")
top = {"mean face": model.mean_} | {f"eigenface {k + 1}": model.components_[k] for k in range(5)}
bottom = {"a new face": X_new[0]} | {
    f"{k} eigenfaces": model.mean_ + weights[0, :k] @ model.components_[:k] for k in ranks
}
for ax, (title, pixels) in zip(axes.flat, (top | bottom).items(), strict=False):
    if title.startswith("eigenface"):
        limit = np.abs(pixels).max()
        ax.imshow(pixels.reshape(HEIGHT, WIDTH), cmap="RdBu", vmin=-limit, vmax=limit)
    else:
        ax.imshow(pixels.reshape(HEIGHT, WIDTH), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title, fontsize=10)
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

# %%
# A picture whose pixels are only 0 and 1. Its best matrix of rank k has values in between, which
# are shown as shades of grey, and a few values below 0 and above 1. Rounding gives 0 and 1 again.

photo = load_sample_image("china.jpg").mean(axis=2)
picture = (photo > np.median(photo)).astype(float)
figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
axes[0, 0].imshow(picture, cmap="gray")
axes[0, 0].set_title("0 and 1")
for ax, k in zip(axes.flat[1:], (5, 20, 80), strict=True):
    found = th.lowrank.best_rank(picture, k)
    grey = found.matrix()
    wrong = np.mean((grey > 0.5) != (picture > 0.5))
    share = found.n_numbers / picture.size
    print(
        f"Rank {k}: values from {grey.min():.2f} to {grey.max():.2f}, {share:.0%} of the numbers,"
    )
    print(f"and after rounding {wrong:.1%} of the pixels are wrong.")
    ax.imshow(grey, cmap="gray", vmin=0, vmax=1)
    ax.set_title(
        f"rank {k}: {share:.0%} of the numbers, {wrong:.1%} wrong after rounding", fontsize=9
    )
for ax in axes.flat:
    ax.set_axis_off()
plt.show()
