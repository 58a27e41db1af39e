"""
Robust standard errors for counts
=================================

A Poisson model assumes that the variance of a count equals its mean. Real counts often vary more,
and then the standard errors from the likelihood are too small. Robust ("sandwich") covariances are
estimated from the residuals instead: the coefficients stay the same, and their intervals become
wide enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
names = ["age", "distance", "visits", "weekend", "income"]
truth = np.array([0.4, -0.25, 0.15, 0.0, 0.0])
X = random.standard_normal((400, 5))
rate = np.exp(X @ truth + 1.0)
y = random.poisson(rate * random.gamma(0.7, 1 / 0.7, 400))

model = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-9).fit(X, y)
print(model.summary())

# %%
# A robust covariance is a sum over the rows, so the rows are passed again.

summaries = {
    "of the likelihood": model.summary(),
    "robust (HC3)": model.summary(X, y, covariance="HC3"),
}
figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
place = np.arange(5)
for shift, (label, summary) in zip((-0.12, 0.12), summaries.items(), strict=True):
    lines = summary.coefficients[1:]
    middle = [line.estimate for line in lines]
    reach = [line.high - line.estimate for line in lines]
    axis.errorbar(middle, place + shift, xerr=reach, fmt="o", ms=4, capsize=3, label=label)
axis.plot(truth, place, "|", color="black", ms=22, label="truth")
axis.axvline(0.0, color="black", lw=0.6)
axis.set(yticks=place, yticklabels=names, xlabel="coefficient, with its 95% interval")
axis.invert_yaxis()
axis.legend(frameon=False)
plt.show()
