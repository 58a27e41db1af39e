"""
Histograms by rule
==================

The width of the bins decides what a histogram shows. Scott's rule is the best for normal data;
Freedman's and Diaconis' hardly changes with outliers; Shimazaki's and Shinomoto's rule and
cross-validation minimise an estimate of the integrated squared error.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
x = np.concatenate([random.normal(-2, 0.25, 300), random.normal(1, 1.0, 500)])
axis = np.linspace(-4, 5, 1000)


def truth(at):
    first = np.exp(-0.5 * ((at + 2) / 0.25) ** 2) / 0.25 * 0.375
    return (first + 0.625 * np.exp(-0.5 * (at - 1) ** 2)) / np.sqrt(2 * np.pi)


rules = ["scott", "freedman_diaconis", "shimazaki_shinomoto", "cross_validation"]
figure, panels = plt.subplots(2, 2, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
for axes, rule in zip(panels.flat, rules, strict=True):
    model = th.Histogram(bins=rule).fit(x[:, None])
    axes.stairs(model.heights(), model.bin_edges_[0], fill=True, color="tab:blue", alpha=0.4)
    axes.plot(axis, truth(axis), color="black", linewidth=1)
    width = getattr(th.binning, rule)(x)
    axes.set_title(f"{rule}: {model.n_cells_} bins, width {width:.2f}", fontsize=10)
plt.show()

# %%
# The cost of cross-validation against the number of bins: too few bins hide the narrow peak, too
# many follow the noise.

numbers = np.arange(2, 80)
costs = [th.binning.leave_one_out_cost(np.histogram(x, bins=k)[0], np.ptp(x) / k) for k in numbers]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(numbers, costs)
axes.plot(numbers[np.argmin(costs)], min(costs), "o", color="tab:red")
axes.set(xlabel="bins", ylabel="estimated error, up to a constant")
plt.show()

# %%
# In several columns most cells are empty. One histogram per column has none, but ignores how the
# columns depend on each other; a density tree adapts its cells.

for d in (1, 2, 3, 6):
    rows = random.standard_normal((1000, d))
    grid = th.Histogram(bins=10).fit(rows)
    alone = th.Histogram(bins=10, factorised=True).fit(rows)
    print(
        f"{d} column{'s' * (d > 1)}: {grid.n_cells_} cells, {grid.emptiness_:.1%} of them empty; "
        f"one histogram per column: {alone.n_cells_} cells, {alone.emptiness_:.1%} empty."
    )
