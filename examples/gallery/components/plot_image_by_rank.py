"""
A picture by its singular values
================================

The best matrix of rank k keeps the k largest singular values. A picture of 427 × 640 pixels needs
k·(427 + 640) numbers; the error is known from the singular values that were left out. The rule of
a tenth keeps so many that the sum of the others is at most a tenth of their sum.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

import thetahat as th

picture = load_sample_image("china.jpg").mean(axis=2)
chosen = th.lowrank.choose_rank(picture)
ranks = [2, 10, 40, chosen]

figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
for ax, k in zip(axes.flat, ranks, strict=True):
    found = th.lowrank.best_rank(picture, k)
    share = found.n_numbers / picture.size
    ax.imshow(found.matrix(), cmap="gray", vmin=0, vmax=255)
    rule = " (rule of a tenth)" if k == chosen else ""
    ax.set_title(f"k = {k}{rule}: {share:.0%} of the numbers, {found.share:.2%} kept", fontsize=9)
    ax.set_axis_off()
plt.show()
