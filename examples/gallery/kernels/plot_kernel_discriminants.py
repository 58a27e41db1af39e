"""
Discriminant analysis with and without a kernel
===============================================

Linear discriminant analysis finds the directions in which the class means are far apart compared
with the spread within the classes. For rings around each other there is no such direction. In the
feature space of a Gaussian kernel there is: the discriminants of the rows are clearly apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
radius = np.repeat([1.0, 2.5, 4.0], 80)
angle = random.uniform(0, 2 * np.pi, 240)
X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
X = X + 0.25 * random.standard_normal((240, 2))
y = np.repeat(["inner", "middle", "outer"], 80)

linear = th.KernelDiscriminantAnalysis("linear").fit(X, y)
gaussian = th.KernelDiscriminantAnalysis(th.kernels.RBF(sigma=1.5)).fit(X, y)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for name in linear.classes_:
    rows = y == name
    axes[0].plot(*X[rows].T, ".")
    axes[1].plot(*linear.transform(X)[rows].T, ".")
    axes[2].plot(*gaussian.transform(X)[rows].T, ".", label=name)
axes[0].set(xlabel="first column", ylabel="second column", title="rows")
for ax, model, title in ((axes[1], linear, "linear"), (axes[2], gaussian, "Gaussian kernel")):
    ax.set(xlabel="first discriminant", ylabel="second discriminant")
    ax.set_title(f"{title}: {model.score(X, y):.0%} correct")
axes[2].legend(loc="lower center", fontsize="small")
plt.show()

# %%
# A kernel that is 0 beyond a distance has a sparse matrix: of 5,000 rows, kernel ridge regression
# needs the pairs of neighbours only.

rows = random.uniform(0, 60, (5000, 2))
target = np.sin(rows[:, 0] / 4) * np.cos(rows[:, 1] / 5) + 0.2 * random.standard_normal(5000)
kernel = th.kernels.Wendland(4.0)
K = th.sparse_gram(kernel, rows)
model = th.KernelRidge(alpha=1.0, kernel=kernel).fit(rows, target)

places = np.linspace(0, 60, 80)
grid = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
order = np.lexsort(rows.T[::-1])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].spy(K[order][:, order], markersize=0.1, rasterized=True)
axes[0].set(xlabel="row", ylabel="row")
axes[0].set_title(f"{K.nnz / K.shape[0] ** 2:.1%} of the matrix is not 0")
drawn = axes[1].pcolormesh(places, places, model.predict(grid).reshape(80, 80), shading="nearest")
axes[1].set(xlabel="first column", ylabel="second column", title="kernel ridge regression")
figure.colorbar(drawn)
plt.show()
