"""
Codes of digits by principal components and by an autoencoder
=============================================================

An autoencoder compresses each row to a few numbers, its code, and reconstructs it. A linear one
finds the plane of the first two principal components. Hidden layers bend that plane: two numbers
then reconstruct the digits better. A deep autoencoder is trained layer by layer first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import thetahat as th

X, y = load_digits(return_X_y=True)
X = X / 16
learned, held = X[:1200], X[1200:]
pca = th.PCA(2).fit(learned)
linear = th.Autoencoder(
    2, hidden_layer_sizes=(), alpha=0.0, solver="lbfgs", max_iter=300, tol=1e-4, random_state=0
).fit(learned)
deep = th.StackedAutoencoder(
    2, hidden_layer_sizes=(64, 32), activation="tanh", learning_rate_init=0.005,
    pretraining_iter=30, max_iter=100, tol=None, random_state=0,
).fit(learned)  # fmt: skip

# %%
# The share of the variance of held-out digits that the reconstructions explain.

lost = ((held - pca.inverse_transform(pca.transform(held))) ** 2).sum()
print(f"PCA                  {1 - lost / ((held - held.mean(axis=0)) ** 2).sum():.3f}")
print(f"linear autoencoder   {linear.score(held):.3f}")
print(f"stacked autoencoder  {deep.score(held):.3f}")

# %%
# The codes of held-out digits, and one digit of each kind with its reconstructions.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for axis, (name, model) in zip(axes, [("PCA", pca), ("Stacked", deep)], strict=False):
    axis.scatter(*model.transform(held).T, c=y[1200:], cmap="tab10", s=10)
    axis.set(title=f"{name}: codes of held-out digits", xlabel="first code", ylabel="second code")
first = [int((y[1200:] == digit).argmax()) for digit in range(10)]
shown = [held[first]] + [
    model.inverse_transform(model.transform(held[first])) for model in (pca, deep)
]
rows = [block.reshape(10, 8, 8).transpose(1, 0, 2).reshape(8, 80) for block in shown]
axes[2].imshow([line for row in rows for line in row], cmap="gray_r", vmin=0, vmax=1)
axes[2].set(
    title="Digits, and reconstructions from two numbers", xticks=[], yticks=[3.5, 11.5, 19.5]
)
axes[2].set_yticklabels(["digit", "PCA", "stacked"])
plt.show()
