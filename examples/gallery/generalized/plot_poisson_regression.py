"""
Counts and their rate: Poisson regression
=========================================

Counts are whole numbers, never negative, and vary more where they are larger. Poisson regression
fits the logarithm of their rate. On the same data, least squares predicts negative counts on the
left.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
hours = random.uniform(0.0, 10.0, (150, 1))
visits = random.poisson(np.exp(0.33 * hours[:, 0] - 0.8))
grid = np.linspace(0.0, 10.0, 200)[:, None]

poisson = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-8).fit(hours, visits)
line = th.LinearRegression().fit(hours, visits)

# %%
# The interval of the rate is computed on the logarithmic scale, where the model is linear. So it is
# never negative, and wider above than below.

low, high = poisson.predict_interval(grid)
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
axis.plot(hours, visits, "o", color="gray", ms=3.5, alpha=0.7)
axis.fill_between(grid[:, 0], low, high, color="tab:blue", alpha=0.25, lw=0)
axis.plot(grid, poisson.predict(grid), color="tab:blue", label="Poisson, with its 95% interval")
axis.plot(grid, line.predict(grid), color="tab:orange", ls="--", label="least squares")
axis.axhline(0.0, color="black", lw=0.6)
axis.set(xlabel="hours open", ylabel="visits")
axis.legend(frameon=False)
plt.show()

# %%
# The coefficients of the same fit.

print(poisson.summary())
