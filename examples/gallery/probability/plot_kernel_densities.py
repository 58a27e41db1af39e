"""
Kernel densities by bandwidth
=============================

A kernel density is the average of bumps at the rows. Their width is the bandwidth: too small, and
every row is a peak; too large, and all peaks merge. Cross-validation compares the likelihoods of
rows that are left out.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
turn = np.sqrt(random.uniform(0.1, 1.0, 600)) * 2.2 * np.pi
X = np.column_stack([np.cos(turn), np.sin(turn)]) * turn[:, None] / 3
X += 0.12 * random.standard_normal(X.shape)

axis = np.linspace(-3, 3, 150)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)

figure, panels = plt.subplots(2, 2, figsize=(7, 7), layout="constrained")
for axes, bandwidth in zip(panels.flat, [0.03, "cross_validation", 0.4, 1.0], strict=True):
    model = th.KernelDensity(bandwidth=bandwidth, rtol=1e-4).fit(X)
    density = np.exp(model.log_density(grid)).reshape(150, 150)
    axes.imshow(density, origin="lower", extent=(-3, 3) * 2, cmap="Blues", vmax=0.3)
    name = "cross-validation: " if bandwidth == "cross_validation" else ""
    axes.set_title(f"{name}bandwidth {model.bandwidth_:.2f}", fontsize=10)
    axes.set(xticks=[], yticks=[])
plt.show()

# %%
# The shape of the kernel matters less than its width. Kernels with bounded support give density 0
# where no row is near.

x = np.linspace(-5, 6, 800)[:, None]
rows = np.array([[-2.0], [-1.5], [-1.2], [0.5], [2.5]])
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for kernel in ("gaussian", "epanechnikov", "tophat", "exponential"):
    shape = th.smoothing.named(kernel)
    # Equal smoothing for all kernels.
    width = 0.6 * shape.canonical_bandwidth() / th.smoothing.Gaussian().canonical_bandwidth()
    model = th.KernelDensity(kernel=kernel, bandwidth=width).fit(rows)
    axes.plot(x, np.exp(model.log_density(x)), label=kernel)
axes.plot(rows, np.zeros(5), "|", color="black", markersize=12)
axes.legend(frameon=False)
plt.show()
