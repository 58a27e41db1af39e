"""
Rows with unequal noise
=======================

Ordinary least squares gives every row the same weight. Where the noise differs between rows and is
known, `GeneralizedLeastSquares` weights each row by its precision 1/σᵢ². Where the noise is
unknown, `NoiseReweightedRegression` estimates it from the residuals in a few rounds. Both lines
follow the precise rows; ordinary least squares is pulled by the noisy ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(35)
x = np.linspace(0.0, 10.0, 40)
noise = np.where(x < 5.0, 0.2, 8.0)
y = 1.0 + 0.5 * x + noise * random.standard_normal(x.size)
X = x[:, None]

models = {
    "all rows alike": th.LinearRegression().fit(X, y),
    "known noise": th.GeneralizedLeastSquares().fit(X, y, noise=noise),
    "noise learned": th.NoiseReweightedRegression().fit(X, y),
}

# %%
# The bars show the standard deviation of the noise; the dashed line is the truth.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.errorbar(x, y, yerr=noise, fmt=".", color="0.6", lw=0.7)
for name, model in models.items():
    axes.plot(x, model.predict(X), label=f"{name}: slope {model.coef_[0]:.2f}")
axes.plot(x, 1.0 + 0.5 * x, "--", color="black", lw=1.0, label="truth: slope 0.50")
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False)
plt.show()
