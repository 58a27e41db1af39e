"""
Groups of similar columns
=========================

Feature agglomeration merges columns instead of rows. The 64 pixels of a digit become 32 regions of
neighbouring pixels that are bright and dark together, and each picture is described by the mean of
every region. Averaging removes noise: a classifier of the 32 means is nearly as accurate as one of
the 64 pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import thetahat as th

X, y = load_digits(return_X_y=True)
groups = th.FeatureAgglomeration(32, connectivity=grid_to_graph(8, 8)).fit(X)
back = groups.inverse_transform(groups.transform(X))

figure, axes = plt.subplots(1, 5, figsize=(12, 2.8), layout="constrained")
axes[0].imshow(groups.labels_.reshape(8, 8), cmap="tab20")
axes[0].set_title("32 regions")
for ax, picture, title in zip(
    axes[1:], (X[0], back[0], X[7], back[7]), ("pixels", "means of regions") * 2, strict=True
):
    ax.imshow(picture.reshape(8, 8), cmap="gray_r")
    ax.set_title(title)
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# The accuracy of nearest neighbours, by five folds:

nearest = th.KNeighborsClassifier(5)
for name, model in {"64 pixels": nearest, "32 means": make_pipeline(groups, nearest)}.items():
    print(f"{name}: {np.mean(cross_val_score(model, X, y)):.3f}")
