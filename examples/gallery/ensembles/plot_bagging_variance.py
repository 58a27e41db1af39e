"""
Bagging reduces the variance
============================

A deep tree follows its training rows closely: averaged over many training sets its curve is right
(low bias), but each single curve is not (high variance). Bagging averages trees that are fitted to
bootstrap samples: var = ρσ² + (1 − ρ)σ²/M. The second term vanishes with the number of members M;
the first remains, because the samples share rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

grid = np.linspace(0, 1, 120)[:, None]
truth = np.sin(2 * np.pi * grid[:, 0])


def training_set(seed, n=60):
    random = np.random.default_rng(seed)
    x = random.uniform(0, 1, (n, 1))
    return x, np.sin(2 * np.pi * x[:, 0]) + 0.4 * random.standard_normal(n)


def curves(seed, members):
    """The prediction of each member along the grid."""
    bag = th.BaggingRegressor(n_estimators=members, random_state=seed).fit(*training_set(seed))
    return [member.predict(grid) for member in bag.estimators_]


# %%
# Bias and variance of the mean of M trees, over 40 training sets.

sizes = [1, 2, 4, 8, 16, 32]
trees = np.array([curves(seed, max(sizes)) for seed in range(40)])
fits = {members: trees[:, :members].mean(axis=1) for members in sizes}
variance = [fits[members].var(axis=0).mean() for members in sizes]
bias = [np.mean((fits[members].mean(axis=0) - truth) ** 2) for members in sizes]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(grid, fits[1][:5].T, color="tab:blue", lw=0.5, alpha=0.7)
left.plot(grid, fits[32][:5].T, color="tab:orange", lw=0.8)
left.plot(grid, truth, color="black", lw=1.5)
left.set(title="five training sets: one tree (blue), 32 (orange)", xlabel="x", ylabel="y")
right.plot(sizes, variance, "o-", label="variance")
right.plot(sizes, bias, "s-", label="bias²")
right.set_xscale("log", base=2)
right.set(xlabel="members M", ylim=(0, None), title="over training sets")
right.legend(frameon=False)
plt.show()

# %%
# The spread of the members estimates the variance of a single tree, and the out-of-bag rows show
# how far new y are from the mean.

x, y = training_set(0, n=200)
bag = th.BaggingRegressor(
    th.DecisionTreeRegressor(min_samples_leaf=5), 100, oob_score=True, random_state=0
).fit(x, y)
mean, spread = bag.predict(grid, return_std=True)
low, high = bag.predict_interval(grid, level=0.9, kind="prediction")

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.fill_between(grid[:, 0], low, high, color="tab:orange", alpha=0.15, label="90% of new y")
axes.fill_between(grid[:, 0], mean - spread, mean + spread, alpha=0.4, label="spread of members")
axes.plot(grid, mean, label="mean of 100 trees")
axes.plot(x, y, ".", color="grey", ms=3)
error, least, most = bag.oob_error()
axes.set(
    xlabel="x",
    ylabel="y",
    title=f"mean squared error {error:.3f} [{least:.3f}, {most:.3f}] out of bag",
)
axes.legend(frameon=False)
plt.show()

# %%
# For labels, the out-of-bag rows estimate the error rate with an interval, without a test set. New
# rows agree.

random = np.random.default_rng(1)


def labelled(n):
    X = random.standard_normal((n, 6))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * random.standard_normal(n) > 0, "same", "other")


X, labels = labelled(500)
X_new, labels_new = labelled(4000)
counts = [20, 40, 80, 160]
bags = [
    th.BaggingClassifier(n_estimators=members, oob_score=True, random_state=0).fit(X, labels)
    for members in counts
]
left_out = np.array([bag.oob_error() for bag in bags])
on_new = [1 - bag.score(X_new, labels_new) for bag in bags]

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
below, above = left_out[:, 0] - left_out[:, 1], left_out[:, 2] - left_out[:, 0]
axes.errorbar(counts, left_out[:, 0], yerr=[below, above], fmt="o-", capsize=3, label="out of bag")
axes.plot(counts, on_new, "s--", label="4000 new rows")
axes.set_xscale("log", base=2)
axes.set_xticks(counts, counts)
axes.set(xlabel="members", ylabel="error rate", ylim=(0, None))
axes.legend(frameon=False)
plt.show()
