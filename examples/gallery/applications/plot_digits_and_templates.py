"""
Digits: components, kernel components and templates
===================================================

A handwritten digit is the mean digit plus a few eigenvectors, x ≈ μ + z₁v₁ + z₂v₂ + …. Components
of a kernel can be more than there are pixels, and together they separate the ten digits better. A
layer of neurons compares a digit with one template per class; the neurons whose template matches
fire.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import thetahat as th

images, labels = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(images / 16, labels, random_state=0)

# %%
# The threes alone: their mean, the first eigenvectors, and a new three that is put together from
# them.

threes = th.PCA(20).fit(X[y == 3])
three = X_new[y_new == 3][:1]
z = threes.transform(three)
partial = {k: threes.mean_ + z[:, :k] @ threes.components_[:k] for k in (0, 1, 2, 4, 8, 20)}
left_out = {k: np.linalg.norm(three - each) / np.linalg.norm(three) for k, each in partial.items()}
for k in (2, 20):
    print(f"With {k} eigenvectors the relative error of the three is {left_out[k]:.3f}.")

figure, axes = plt.subplots(2, 7, figsize=(10, 3.4), layout="constrained")
top = {"mean μ": threes.mean_} | {f"v{k + 1}": threes.components_[k] for k in range(6)}
bottom = {f"k = {k}": each for k, each in partial.items()} | {"new three": three}
for row, pictures in zip(axes, (top, bottom), strict=True):
    for ax, (title, pixels) in zip(row, pictures.items(), strict=True):
        is_direction = title.startswith("v")
        limits = (-0.4, 0.4) if is_direction else (0, 1)
        color = "RdBu" if is_direction else "gray_r"
        ax.imshow(np.reshape(pixels, (8, 8)), cmap=color, vmin=limits[0], vmax=limits[1])
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
plt.show()

# %%
# All digits: how well logistic regression on the components recognises new digits. There are at
# most 64 ordinary components, as many as pixels.

counts = {"PCA": [2, 5, 10, 20, 40, 60], "kernel PCA": [2, 5, 10, 20, 40, 80, 160]}
models = {
    "PCA": th.PCA(60).fit(X),
    "kernel PCA": th.KernelPCA(160, kernel=th.kernels.RBF(gamma=0.4)).fit(X),
}


def accuracy(model, k):
    """Share of new digits that are recognised from k standardised components."""
    classifier = make_pipeline(th.Standardizer(), th.LogisticRegression(max_iter=500))
    classifier.fit(model.transform(X)[:, :k], y)
    return classifier.score(model.transform(X_new)[:, :k], y_new)


scores = {name: [accuracy(model, k) for k in counts[name]] for name, model in models.items()}
for name, values in scores.items():
    print(
        f"{name} with {counts[name][-1]} components: {values[-1]:.1%} of the new digits are right."
    )

# %%
# Now the templates. The template of a digit is the row of weights that softmax regression gives it,
# and the neuron fires if vᵢᵀx is at least its threshold. The output Σ wᵢ·1[vᵢᵀx ≥ v₀] with wᵢ = i
# is the digit itself, as long as exactly one neuron fires. Each threshold here is chosen on the
# training digits.

softmax = th.LogisticRegression(C=0.1, max_iter=500).fit(X, y)
templates = softmax.coef_
similarity = X @ templates.T
thresholds = np.array([th.best_threshold(y == i, similarity[:, i]).threshold for i in range(10)])
fires = X_new @ templates.T >= thresholds
output = fires @ np.arange(10)
one = fires.sum(axis=1) == 1
print(f"Exactly one neuron fires for {one.mean():.1%} of the new digits;")
print(f"then the output is right for {np.mean(output[one] == y_new[one]):.1%}.")
print(f"The largest output of the softmax is right for {softmax.score(X_new, y_new):.1%}.")

# %%

figure = plt.figure(figsize=(10, 4), layout="constrained")
curves, layer = figure.subfigures(1, 2, width_ratios=[1, 1.5])
ax = curves.subplots()
for name, values in scores.items():
    ax.semilogx(counts[name], values, "o-", label=name)
ax.set(xlabel="components", ylabel="share of new digits recognised", ylim=(0.5, 1.01))
ax.set_xticks([2, 5, 10, 20, 40, 80, 160], [2, 5, 10, 20, 40, 80, 160], minor=False)
ax.minorticks_off()
ax.legend(frameon=False, loc="lower right")
axes = layer.subplots(2, 5)
limit = np.abs(templates).max()
shown = np.flatnonzero(one & (y_new == 2))[0]
for digit, ax in enumerate(axes.flat):
    ax.imshow(templates[digit].reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{digit}: fires" if fires[shown, digit] else f"{digit}", fontsize=10)
layer.suptitle(f"ten templates, and which of them fires for a new {y_new[shown]}", fontsize=11)
plt.show()
