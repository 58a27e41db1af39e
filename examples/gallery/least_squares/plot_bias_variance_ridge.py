"""
Bias and variance of ridge regression
=====================================

Many training sets are drawn, ridge regression is fitted to each of them, and the estimates are
compared with the truth: E(β̂ − β*)² = Var β̂ + (E β̂ − β*)². A larger penalty reduces the variance
and increases the bias; the best penalty balances them. For fixed rows both terms have a closed
form, which agrees with the experiment.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
n, d, sigma = 30, 10, 2.0
X = random.standard_normal((n, d)) @ (np.eye(d) + 0.7)
truth = random.standard_normal(d)
taus = np.logspace(-1.5, 3, 10)


def simulate(random):
    return X, X @ truth + sigma * random.standard_normal(n)


learners = {f"τ = {tau:.3g}": th.Ridge(alpha=tau, fit_intercept=False) for tau in taus}
learners["least squares"] = th.LinearRegression(fit_intercept=False)
found = th.bias_variance(
    learners, simulate, truth=truth, statistic=lambda model: model.coef_, n_datasets=60,
    random_state=0,
)  # fmt: skip
print(found)

# %%
# Lines show the closed form and points the experiment. With M training sets, a bias² below
# variance/M cannot be distinguished from 0: there the points leave the line.

fine = np.logspace(-1.5, 3, 200)
bias2, variance = th.ridge_bias_variance(X, truth, sigma, fine)
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
for label, line, points in (
    ("bias²", bias2, found.bias2),
    ("variance", variance, found.variance),
    ("mean squared error", bias2 + variance, found.mse),
):
    (drawn,) = axis.loglog(fine, line, label=label)
    axis.loglog(taus, points[:-1], "o", color=drawn.get_color())
axis.axhline(found.mse[-1], color="0.5", ls="--", label="least squares")
axis.set(xlabel="penalty τ", ylabel="error of β̂, summed", ylim=(1e-3, None))
axis.legend(frameon=False)
plt.show()
