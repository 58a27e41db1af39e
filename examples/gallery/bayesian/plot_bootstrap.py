"""
Bootstrap intervals for a penalised fit
=======================================

The standard errors of least squares do not hold for ridge regression, because its penalty biases
every coefficient. The bootstrap fits the model again to resampled rows and measures how much the
coefficients vary. The columns of Longley's data are almost linearly dependent, so the effect of the
penalty is large.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

data = th.datasets.load_longley()
X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
y = (data.y - data.y.mean()) / data.y.std()

results = {
    alpha: th.bootstrap(
        th.Ridge(alpha=alpha), X, y, resample="residuals", n_resamples=300, random_state=0
    )
    for alpha in (0.001, 0.1, 1.0)
}
print(results[0.1])

# %%
# Bars are 95 % intervals. A larger penalty makes them narrower but increases the bias.

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
for shift, (alpha, result) in zip((-0.2, 0.0, 0.2), results.items(), strict=True):
    place = np.arange(X.shape[1]) + shift
    middle, low, high = result.estimate[1:], result.low[1:], result.high[1:]
    bars = [np.maximum(middle - low, 0), np.maximum(high - middle, 0)]
    axis.errorbar(place, middle, yerr=bars, fmt="o", capsize=3, label=f"α = {alpha:g}")
axis.axhline(0.0, color="black", lw=0.6)
axis.set_xticks(range(X.shape[1]), data.feature_names, rotation=15)
axis.set(ylabel="coefficient per standard deviation")
axis.legend(frameon=False)
plt.show()
