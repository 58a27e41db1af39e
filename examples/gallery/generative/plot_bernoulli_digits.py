"""
Digits by Bernoulli naive Bayes
===============================

An image of black and white pixels is a row of zeros and ones. Bernoulli naive Bayes learns the
probability of a black pixel at every place, for every digit, and treats the pixels as independent.
The other models of naive Bayes read the same images as counts of ink, as categories of grey, or as
numbers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import thetahat as th

images, digits = load_digits(return_X_y=True)
train, test, y, y_test = train_test_split(images, digits, random_state=0)

model = th.BernoulliNB(binarize=7).fit(train, y)
models = {
    "black and white (BernoulliNB)": model,
    "amounts of ink (MultinomialNB)": th.MultinomialNB().fit(train, y),
    "amounts of ink (ComplementNB)": th.ComplementNB().fit(train, y),
    "17 shades (CategoricalNB)": th.CategoricalNB(min_categories=17).fit(train, y),
    "numbers (GaussianNB)": th.GaussianNB(var_smoothing=0.05).fit(train, y),
}
for name, each in models.items():
    print(f"{name:32} {each.score(test, y_test):.3f}")

# %%
# The probabilities of black pixels are the mean images. Rows that are drawn from the model show
# what independence leaves out: each pixel is right on average, but neighbouring pixels do not
# agree.

drawn, labels = model.sample(400, random_state=0)
figure, panels = plt.subplots(4, 10, figsize=(9, 3.9), layout="constrained")
for digit in range(10):
    columns = (
        train[y == digit][0] > 7,
        np.exp(model.feature_log_prob_[digit]),
        drawn[labels == digit][0],
        drawn[labels == digit][1],
    )
    for axes, pixels in zip(panels[:, digit], columns, strict=True):
        axes.imshow(np.reshape(pixels, (8, 8)), cmap="Greys", vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
for axes, title in zip(panels[:, 0], ("a row", "p(black)", "drawn", "drawn"), strict=True):
    axes.set_ylabel(title)
plt.show()

# %%
# The density p(x) of the same model detects images that are not digits: shuffled pixels are far
# less probable.

random = np.random.default_rng(0)
shuffled = random.permuted(test, axis=1)
bins = np.linspace(10, 110, 60)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.hist(model.novelty(test), bins, alpha=0.6, label="new digits")
axes.hist(model.novelty(shuffled), bins, alpha=0.6, label="shuffled pixels")
axes.axvline(
    model.novelty_threshold(test, 0.05), color="black", label="5% of the digits exceed this"
)
axes.set(xlabel="novelty −log p(x)", yticks=[])
axes.legend(fontsize=8)
plt.show()
