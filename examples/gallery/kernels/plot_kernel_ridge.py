"""
Kernel ridge regression and its bandwidth
=========================================

Kernel ridge regression fits f(x) = Σ cⱼ k(x, xⱼ) with ĉ = (K + αI)⁻¹y. The bandwidth of the kernel
decides what the function can follow: too small a bandwidth interpolates the noise between the rows,
too large a bandwidth gives a function that is too smooth. Leaving out one row at a time has a
closed form, so that bandwidth and penalty are chosen without refitting.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = np.sort(random.uniform(0, 6, 60))[:, np.newaxis]
y = np.sin(X[:, 0]) + np.sin(4 * X[:, 0]) / 4 + 0.2 * random.standard_normal(60)
grid = np.linspace(0, 6, 300)[:, np.newaxis]

widths = [th.kernels.RBF(sigma=sigma) for sigma in (0.03, 0.1, 0.3, 1.0, 3.0)]
chosen = th.KernelRidgeCV(alphas=np.logspace(-3, 1, 9), kernel=widths).fit(X, y)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, kernel, alpha in zip(
    axes, (widths[0], chosen.kernel_, widths[4]), (0.1, chosen.alpha_, 0.1), strict=True
):
    model = th.KernelRidge(alpha=alpha, kernel=kernel).fit(X, y)
    ax.plot(X[:, 0], y, ".", color="0.6")
    ax.plot(grid[:, 0], model.predict(grid), color="C0")
    ax.set(xlabel="x", title=f"σ = {kernel.sigma:g}, α = {alpha:.2g}")
axes[0].set_ylabel("y")
axes[1].set_title(f"chosen: σ = {chosen.kernel_.sigma:g}, α = {chosen.alpha_:.2g}")
plt.show()

# %%
# The mean squared error of the rows that were left out, for every pair. The median distance between
# rows is a reasonable start for such a search.

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for kernel, scores in zip(widths, chosen.scores_, strict=True):
    axes.loglog(np.logspace(-3, 1, 9), -scores, "o-", ms=3, label=f"σ = {kernel.sigma:g}")
axes.set(xlabel="penalty α", ylabel="leave-one-out error")
axes.set_title(f"median distance between rows: {th.kernels.bandwidth(X):.2g}")
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()
