"""
Classes of spectra
==================

Sixty spectra with 400 columns each: a classifier of all columns is not determined, and the largest
differences between the spectra are their baselines, which say nothing about the class. Partial
least squares on the labels removes the baselines with its first two components and separates the
classes with the next two; linear discriminant analysis of the scores classifies new spectra.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

channel = np.arange(400)
peaks = np.exp(-0.5 * ((channel - np.array([[100], [200], [300]])) / 15) ** 2)


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    baseline = 3 * rng.normal(size=(n, 1)) + rng.normal(size=(n, 1)) * channel / 200
    return 0.6 * peaks[y] + baseline + 0.4 * rng.normal(size=(n, 400)), np.array(["A", "B", "C"])[y]


X, y = spectra(60, 0)
held, truth = spectra(300, 1)
model = th.PLSClassifier(n_components=4).fit(X, y)
share = model.score(held, truth)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
colours = dict(zip("ABC", ("tab:blue", "tab:orange", "tab:green"), strict=True))
for row, label in zip(X[:15], y[:15], strict=True):
    axes[0].plot(channel, row, color=colours[label], linewidth=0.6)
axes[0].set(title="15 spectra", xlabel="column")
views = (
    ("principal components", th.PCA(2).fit(X).transform(held)),
    (f"PLS scores 3 and 4: {share:.0%} of new spectra right", model.transform(held)[:, 2:]),
)
for ax, (title, scores) in zip(axes[1:], views, strict=True):
    for label, colour in colours.items():
        ax.scatter(*scores[truth == label].T, s=8, color=colour, label=label)
    ax.set_title(title, fontsize=10)
axes[1].legend(title="class")
plt.show()
