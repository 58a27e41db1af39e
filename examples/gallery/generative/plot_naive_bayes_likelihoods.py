"""
Naive Bayes with a likelihood of choice per column
==================================================

Naive Bayes multiplies one-dimensional models of the columns: p(x | c) = Π_j p_j(x_j | c). Every
column can have its own kind of model: a Gaussian, a histogram, a kernel estimate, or a table of
categories. D histograms of B bins need D·B numbers per class, where one histogram of all columns
would need B^D, of which nearly all would be empty.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import thetahat as th


def visitors(n, seed):
    """Visits of a shop: columns of numbers and of text, and whether something was bought."""
    random = np.random.default_rng(seed)
    bought = random.random(n) < 0.4
    two_peaks = np.where(random.random(n) < 0.5, random.normal(10, 1, n), random.normal(19, 1.5, n))
    table = pd.DataFrame(
        {
            "age": random.normal(np.where(bought, 45, 35), 9),
            "hour": np.where(bought, two_peaks, random.uniform(7, 23, n)),
            "minutes": random.exponential(np.where(bought, 12, 4)),
            "device": np.where(random.random(n) < np.where(bought, 0.3, 0.7), "phone", "computer"),
        }
    )
    return table, np.where(bought, "bought", "left")


X, y = visitors(1500, seed=0)
new, labels = visitors(5000, seed=1)

# %%
# Text columns are categorical by themselves. The score is the accuracy on 5000 new rows; the second
# number is the mean log-density of these rows, which says how well the model describes them.

models = {
    "all Gaussian": th.NaiveBayes(),
    "histograms": th.NaiveBayes({name: "histogram" for name in ("age", "hour", "minutes")}),
    "kernels": th.NaiveBayes({name: "kernel" for name in ("age", "hour", "minutes")}),
    "a mixture": th.NaiveBayes({"hour": "kernel", "minutes": "histogram"}),
}
for name, model in models.items():
    model.fit(X, y)
    print(
        f"{name:13} {', '.join(model.likelihoods_):45} "
        f"{model.score(new, labels):.3f}  {model.log_density(new).mean():.2f}"
    )

# %%
# The fitted densities of the columns, beside the rows.

mixture = models["a mixture"]
figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axes, column in zip(panels[:3], ("age", "hour", "minutes"), strict=True):
    grid = np.linspace(X[column].min(), X[column].max(), 500)
    for code, colour in enumerate(("tab:blue", "tab:orange")):
        of_class = X[column][y == mixture.classes_[code]]
        axes.hist(of_class, bins=40, density=True, color=colour, alpha=0.2)
        density = np.exp(mixture.column_log_density(column, grid)[:, code])
        axes.plot(grid, density, color=colour, label=mixture.classes_[code])
    kind = mixture.likelihoods_[list(X.columns).index(column)]
    axes.set(title=f"{column}: {kind}", yticks=[])
devices = sorted(set(X["device"]))
share = np.exp(mixture.column_log_density("device", np.arange(len(devices))))
for code, colour in enumerate(("tab:blue", "tab:orange")):
    panels[3].bar(np.arange(2) + 0.35 * code, share[:, code], 0.35, color=colour)
panels[3].set(title="device: categorical", xticks=[0.17, 1.17], xticklabels=devices)
panels[0].legend(fontsize=8)
plt.show()

# %%
# A missing value is left out of the product, and so is its column from the decision.

row = pd.DataFrame({"age": [50.0], "hour": [19.0], "minutes": [20.0], "device": ["computer"]})
print(mixture.classes_, mixture.predict_proba(row).round(3))
row["minutes"] = np.nan
print("without the minutes:", mixture.predict_proba(row).round(3))
row["device"] = "watch"
print("with a device that no training row has:", mixture.predict_proba(row).round(3))
