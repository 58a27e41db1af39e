"""
Perceptron in the feature space of a kernel
===========================================

The kernel perceptron adds the function y·k(x, ·) of each row at which it makes a mistake. Its
features are never formed. On these rows, whose classes a circle separates, the Gaussian kernel
finds a boundary from a few mistakes (circles), and the linear kernel never does. The polynomial
kernel has so few features that the perceptron can also use them explicitly, with the same mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.uniform(-1, 1, (150, 2))
y = np.where(np.hypot(*X.T) > 0.7, "outside", "inside")
kernels = {"Gaussian": th.kernels.RBF(sigma=0.5), "linear": th.kernels.Linear() + 1}
first, second = np.meshgrid(np.linspace(-1, 1, 100), np.linspace(-1, 1, 100))
grid = np.column_stack([first.ravel(), second.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    model = th.KernelPerceptron(kernel, max_iter=300).fit(X, y)
    scores = model.decision_function(grid).reshape(first.shape)
    ax.contourf(first, second, scores > 0, levels=[-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.2)
    for label, colour in zip(model.classes_, ("C0", "C1"), strict=True):
        ax.plot(*X[y == label].T, ".", color=colour)
    if model.separated_:
        ax.plot(*X[model.support_].T, "o", mfc="none", color="0.3", ms=8)
    ax.set_title(f"{name}: {model.n_mistakes_} mistakes, {model.n_iter_} passes")
    ax.set_xticks([-1, 0, 1])
plt.show()

# %%
# A circle is a polynomial threshold function of degree 2: the sign of a sum of six monomials.

explicit = th.PolynomialThreshold(degree=2, max_iter=1000).fit(X, y)
implicit = th.KernelPerceptron(th.kernels.Polynomial(degree=2), max_iter=1000).fit(X, y)
print(f"six monomials: {explicit.n_mistakes_} mistakes, kernel: {implicit.n_mistakes_} mistakes")
