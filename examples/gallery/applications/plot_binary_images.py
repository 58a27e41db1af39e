"""
Signs of 6 × 6 pixels by Bernoulli naive Bayes
==============================================

The pixels of a black and white image are 0 or 1, so a normal distribution does not fit them.
Bernoulli naive Bayes gives every pixel of every class its own probability of being black. Its
maximum-likelihood estimate is the share of black pixels, N₁/N, and Bayes' rule turns the product of
the 36 probabilities into the probability of each class.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

SIGNS = {
    "plus": "..##.. ..##.. ###### ###### ..##.. ..##..",
    "cross": "#....# .#..#. ..##.. ..##.. .#..#. #....#",
    "ring": ".####. #....# #....# #....# #....# .####.",
    "T": "###### ###### ..##.. ..##.. ..##.. ..##..",
}
templates = np.array([[mark == "#" for mark in sign.replace(" ", "")] for sign in SIGNS.values()])


def images(n, flipped, seed):
    """Copies of the signs in which each pixel is flipped with the given probability."""
    random = np.random.default_rng(seed)
    label = random.integers(len(SIGNS), size=n)
    X = templates[label] ^ (random.random((n, 36)) < flipped)
    return X.astype(int), np.array(list(SIGNS))[label]


X, y = images(200, flipped=0.15, seed=0)
X_new, y_new = images(2000, flipped=0.15, seed=1)
model = th.BernoulliNB().fit(X, y)

# %%
# The default adds one black and one white pixel to the counts, (N₁ + 1)/(N + 2). Without this
# smoothing, a pixel that was never black in one class would rule this class out by itself.

probabilities = dict(zip(model.classes_, np.exp(model.feature_log_prob_), strict=True))
share = th.distributions.Bernoulli.fit(X[y == "plus", 0]).distribution.p
print(f"The first pixel of a plus is black in {share:.3f} of the images (N₁/N),")
print(f"and with probability {probabilities['plus'][0]:.3f} after smoothing.")
print(f"Share of new images recognised: {model.score(X_new, y_new):.3f}.")
smallest = th.BernoulliNB().fit(X[:20], y[:20]).score(X_new, y_new)
print(f"Share recognised after only 20 images: {smallest:.3f}.")

# %%
# The estimated probabilities look like the signs. On the right, an image with many flipped pixels
# and the probability of each class.

doubtful = np.argmin(model.predict_proba(X_new).max(axis=1))
posterior = model.predict_proba(X_new[doubtful : doubtful + 1])[0]
figure = plt.figure(figsize=(9.5, 4.6), layout="constrained")
known, new = figure.subfigures(1, 2, width_ratios=[3, 1.2], wspace=0.05)
axes = known.subplots(3, 4)
for column, (name, probability) in enumerate(probabilities.items()):
    pixels = (*X[y == name][:2], probability)
    for ax, image in zip(axes[:, column], pixels, strict=True):
        shown = ax.imshow(image.reshape(6, 6), cmap="Greys", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    axes[0, column].set_title(name)
for ax, title in zip(axes[:, 0], ("an image", "another", "p(black)"), strict=True):
    ax.set_ylabel(title)
known.colorbar(shown, ax=axes, shrink=0.6)
image, bars = new.subplots(2, 1)
image.imshow(X_new[doubtful].reshape(6, 6), cmap="Greys")
image.set(xticks=[], yticks=[], title="a new image, in doubt")
bars.barh(model.classes_, posterior, color="tab:orange")
bars.invert_yaxis()
bars.set(xlim=(0, 1), xlabel="probability")
plt.show()
