"""
Components of kernel PCA
========================

Kernel PCA finds the directions of largest variance in the feature space of a kernel. Each component
is a function of x, drawn here over the plane: the first ones separate the three clusters, later
ones vary within them. With the linear kernel the components would be the two axes of ordinary
principal component analysis.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
centres = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
X = np.repeat(centres, 30, axis=0) + 0.1 * random.standard_normal((90, 2))

model = th.KernelPCA(8, kernel=th.kernels.RBF(c=0.1)).fit(X)
first, second = np.meshgrid(np.linspace(-1, 1, 80), np.linspace(-0.7, 1.1, 80))
values = model.transform(np.column_stack([first.ravel(), second.ravel()]))

figure, axes = plt.subplots(2, 4, figsize=(10, 4.8), sharex=True, sharey=True, layout="constrained")
for ax, column, eigenvalue in zip(axes.flat, values.T, model.eigenvalues_, strict=True):
    ax.contourf(first, second, column.reshape(first.shape), levels=12, cmap="RdBu")
    ax.plot(*X.T, "k.", ms=2)
    ax.set_title(f"λ = {eigenvalue:.2f}")
plt.show()
