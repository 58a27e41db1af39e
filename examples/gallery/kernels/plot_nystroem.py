"""
Nyström's approximation for many rows
=====================================

An exact kernel model needs a matrix of n × n numbers. With m of the rows as centres it needs n × m,
and every loss works as before. The error falls quickly with the number of centres, because smooth
kernels have few features that matter. Random cosines, which do not depend on the rows, need more.
For the polynomial kernel, random sketches replace the 210 products of two of 20 columns.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.uniform(-2, 2, (3000, 2))
y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.1 * random.standard_normal(3000)
held_out = slice(1000, None)

kernel = th.kernels.RBF(sigma=1.0)
exact = th.KernelModel("huber", kernel, alpha=1e-5).fit(X[:1000], y[:1000])
counts = (5, 10, 20, 40, 80, 160)
scores, errors, random_errors = [], [], []
for m in counts:
    model = th.KernelModel("huber", kernel, alpha=1e-5, n_components=m, random_state=0)
    scores.append(model.fit(X[:1000], y[:1000]).score(X[held_out], y[held_out]))
    features = th.Nystroem(kernel, n_components=m, random_state=0).fit_transform(X[:1000])
    errors.append(np.abs(features @ features.T - kernel(X[:1000])).max())
    cosines = th.RBFSampler(gamma=0.5, n_components=m, random_state=0).fit_transform(X[:1000])
    random_errors.append(np.abs(cosines @ cosines.T - kernel(X[:1000])).max())

wide = random.standard_normal((200, 20))
K = th.kernels.Polynomial(degree=2)(wide)
sizes, sketch_errors = (10, 30, 100, 300, 1000, 3000), []
for m in sizes:
    sketches = th.PolynomialCountSketch(degree=2, n_components=m, random_state=0)
    products = sketches.fit_transform(wide)
    sketch_errors.append(np.abs(products @ products.T - K).mean() / K.diagonal().mean())

figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
axes[0].semilogx(counts, scores, "o-", label="m centres")
axes[0].axhline(exact.score(X[held_out], y[held_out]), color="0.3", ls="--", label="exact model")
axes[0].set(xlabel="centres m", ylabel="R² on held-out rows", title="Huber loss under a kernel")
axes[0].legend()
axes[1].loglog(counts, errors, "o-", color="C1", label="Nyström")
axes[1].loglog(counts, random_errors, "s-", color="C2", label="random cosines")
axes[1].legend()
axes[1].set(xlabel="centres m", ylabel="largest error", title="entries of the kernel matrix")
axes[2].loglog(sizes, sketch_errors, "^-", color="C3")
axes[2].set(xlabel="features m", ylabel="mean error / mean of k(x, x)", title="polynomial sketches")
plt.show()
