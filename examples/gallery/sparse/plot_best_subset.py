"""
The best subset of each size
============================

For every number of columns, branch and bound finds the subset with the smallest sum of squares. It
excludes most of the four thousand subsets without computing them. More columns always fit the
training rows better, so a criterion adds a price for each column and decides where to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
n, d = 80, 12
mixing = np.eye(d) + 0.4 * random.standard_normal((d, d))
X = random.standard_normal((n, d)) @ mixing
y = X @ np.r_[2.0, -1.5, 1.0, 0.8, np.zeros(d - 4)] + 3 * random.standard_normal(n)

models = {
    name: th.BestSubset(criterion=name, cv=10).fit(X, y) for name in ("rss", "aic", "bic", "cv")
}
for name, model in models.items():
    print(f"{name}: columns {np.flatnonzero(model.support_).tolist()}, {model.n_iter_} nodes")

# %%
# The columns in the best subset of each size, and the values of four criteria.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
rss = models["rss"]
membership = np.array([np.isin(np.arange(d), subset) for subset in rss.subsets_])
left.imshow(membership.T, cmap="Greys", vmax=1.6, aspect="auto", origin="lower")
left.axhline(3.5, color="C3", ls="--", lw=1)
left.set(
    xlabel="columns in the subset", ylabel="column", title="best subsets (true: below the line)"
)
for name, model in models.items():
    values = model.criterion_values_
    scaled = (values - values.min()) / (values.max() - values.min())
    best = int(values.argmin())
    (line,) = right.plot(scaled, label=name)
    if name != "rss":
        right.plot(best, scaled[best], "o", color=line.get_color(), ms=9)
right.set(xlabel="columns in the subset", ylabel="criterion, scaled", title="where each stops")
right.legend(frameon=False)
plt.show()
