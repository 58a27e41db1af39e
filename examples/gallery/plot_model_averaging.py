"""
Bayesian model averaging
========================

Which degree has the polynomial? With few rows the data do not settle it. Choosing one degree hides
that; averaging keeps it: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D), each model weighted by its
probability. The evidence P(D|fₘ) is an integral over all coefficients, so a degree that could fit
anything is not favoured for fitting this.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import thetahat as th

NOISE = 0.3
degrees = range(1, 8)
random = np.random.default_rng(0)
x = random.uniform(-1, 1, 300)
y = 0.5 - 1.5 * x + 2 * x**3 + NOISE * random.standard_normal(300)
grid = np.linspace(-1.4, 1.4, 200)[:, None]


def average(n):
    models = [
        (
            f"degree {degree}",
            make_pipeline(
                th.MonomialExpansion(degree, include_bias=False),
                th.BayesianLinearRegression(prior_covariance=4.0, noise=NOISE),
            ),
        )
        for degree in degrees
    ]
    return th.BayesianModelAveraging(models).fit(x[:n, None], y[:n])


# %%
# Posterior probabilities of the degrees, and the band that holds 90% of new y. With 10 rows all
# degrees share the probability and, beyond the rows, they disagree: the band is wide. With 300 rows
# the cubic, which made them, has most of it, and higher degrees pay for what they could have been.

figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", width_ratios=(2, 1))
for (left, right), n in zip(axes, (10, 300), strict=True):
    model = average(n)
    mean, _ = model.predict(grid, return_std=True)
    low, high = model.predict_interval(grid, level=0.9)
    left.fill_between(grid[:, 0], low, high, color="tab:orange", alpha=0.25)
    for member, probability in zip(model.estimators_, model.posterior_, strict=True):
        left.plot(grid, member.predict(grid), color="tab:blue", lw=1, alpha=max(0.1, probability))
    left.plot(grid, mean, color="tab:orange", lw=2)
    left.plot(x[:n], y[:n], ".", color="black", ms=4)
    left.set(ylim=(-5, 6), title=f"{n} rows, evidence: {model.approximation_}")
    right.bar(list(degrees), model.posterior_)
    right.set(ylim=(0, 1), xlabel="degree", title="P(degree | data)")
plt.show()
