"""
Gaussian processes: functions with error bars
=============================================

A Gaussian process is a random function with covariance k(x, z). Before any row is known, its values
vary around 0; given the rows, its mean is that of kernel ridge regression, and its standard
deviation grows with the distance from the rows. Each panel shows the mean, two standard deviations
on both sides, and four functions that were drawn at random.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
X = np.sort(np.r_[random.uniform(0, 4, 14), random.uniform(7, 10, 8)])[:, np.newaxis]
y = np.sin(X[:, 0]) + 0.15 * random.standard_normal(len(X))
grid = np.linspace(-1, 12, 260)[:, np.newaxis]


def bands(ax, model, title):
    mean, std = model.predict(grid, return_std=True)
    functions = model.sample_y(grid, n_samples=4, random_state=4)
    ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color="C0", alpha=0.2, lw=0)
    ax.plot(grid[:, 0], functions, lw=0.7, color="C1")
    ax.plot(grid[:, 0], mean, color="C0")
    ax.set(xlabel="x", title=title)


figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True, layout="constrained")
smooth = th.GaussianProcessRegressor(th.kernels.RBF(length_scale=1.0), alpha=0.15**2)
bands(axes[0], smooth, "prior")
bands(axes[1], smooth.fit(X, y), f"Gaussian, h = {smooth.kernel_.length_scale:.2g}")
rough = th.GaussianProcessRegressor(th.kernels.Matern(nu=0.5), alpha=0.15**2).fit(X, y)
bands(axes[2], rough, f"Matérn ν = 1/2, h = {rough.kernel_.length_scale:.2g}")
for ax in axes[1:]:
    ax.plot(X[:, 0], y, "k.", ms=4)
axes[0].set_ylabel("f(x)")
plt.show()

# %%
# The hyper-parameters maximise the marginal likelihood, which weighs the fit against the
# flexibility of the functions. Here it is a function of the length scale and the noise; the cross
# is the fit, which started at the circle.

kernel = th.kernels.RBF(length_scale=3.0) + th.kernels.White(0.3)
model = th.GaussianProcessRegressor(kernel).fit(X, y)
lengths, levels = np.geomspace(0.1, 10, 40), np.geomspace(1e-3, 2, 40)
values = [
    [model.log_marginal_likelihood(np.log([length, level])) for length in lengths]
    for level in levels
]
figure, axes = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
top = model.log_marginal_likelihood_value_
filled = axes.contourf(lengths, levels, values, top - np.linspace(12, 0, 25), extend="min")
axes.plot(*np.exp(kernel.theta), "o", color="white", mfc="none")
axes.plot(*np.exp(model.kernel_.theta), "x", color="red", ms=9)
axes.set(xscale="log", yscale="log", xlabel="length scale", ylabel="variance of the noise")
figure.colorbar(filled, label="log marginal likelihood")
plt.show()
