"""
Amounts that are often zero: Tweedie and Gamma regression
=========================================================

The yearly claims of an insured are zero in most years. Otherwise they are a sum of positive amounts
whose spread grows with their mean. A Tweedie distribution with a power between 1 and 2 describes
the sum, and a Gamma distribution (power 2) the size of a single claim.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import mean_tweedie_deviance

import thetahat as th

random = np.random.default_rng(0)
age = random.uniform(18.0, 80.0, (4000, 1))
rate = np.exp(1.4 - 0.07 * age[:, 0])
size = np.exp(5.5 + 0.015 * age[:, 0])
number = random.poisson(rate)
total = np.array([random.gamma(2.0, s / 2.0, k).sum() for k, s in zip(number, size, strict=True)])
print(f"{np.mean(total == 0):.0%} of the rows are 0")

# %%
# The total of a year. Least squares follows the few large sums, and its line predicts less than
# nothing for old drivers.

train, test = slice(0, 2000), slice(2000, None)
tweedie = th.TweedieRegressor(power=1.5, alpha=0.0).fit(age[train], total[train])
line = th.LinearRegression().fit(age[train], total[train])
found = mean_tweedie_deviance(total[test], tweedie.predict(age[test]), power=1.5)
mean = mean_tweedie_deviance(total[test], np.full(2000, total[train].mean()), power=1.5)
print(f"deviance per row: {found:.1f}, of the mean alone: {mean:.1f}")

# %%
# The size of one claim: the rows with a claim, weighted by their number of claims.

some = number[train] > 0
single = total[train][some] / number[train][some]
gamma = th.GammaRegressor(alpha=0.0).fit(age[train][some], single, number[train][some])

grid = np.linspace(18.0, 80.0, 100)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(age[train], total[train], ".", color="gray", ms=2, alpha=0.5)
left.plot(grid, tweedie.predict(grid), color="tab:blue", label="Tweedie, power 1.5")
left.plot(grid, line.predict(grid), color="tab:orange", ls="--", label="least squares")
left.plot(grid, np.exp(6.9 - 0.055 * grid), color="black", lw=0.8, label="truth")
left.axhline(0.0, color="black", lw=0.6)
left.set(xlabel="age", ylabel="claims of a year", ylim=(-150, 1200))
right.plot(age[train][some], single, ".", color="gray", ms=2, alpha=0.5)
right.plot(grid, gamma.predict(grid), color="tab:blue", label="Gamma")
right.plot(grid, np.exp(5.5 + 0.015 * grid), color="black", lw=0.8, label="truth")
right.set(xlabel="age", ylabel="size of a claim", ylim=(0, 2000))
for axis in (left, right):
    axis.legend(frameon=False)
plt.show()
