"""
Bayesian model averaging
========================

A few rows often do not determine the degree of a polynomial. Choosing one degree hides this
uncertainty. Averaging keeps it: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D), where each model is weighted
by its probability. The evidence P(D|fₘ) is an integral over all coefficients, so a flexible model
is not preferred merely because it can fit any data.
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
# Posterior probabilities of the degrees, and the band that contains 90 % of new y. With 10 rows all
# degrees share the probability, and outside the data they disagree: the band is wide. With 300 rows
# the true degree, 3, has most of the probability.

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
