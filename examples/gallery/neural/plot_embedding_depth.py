"""
Deep networks on few labels, with and without an embedding of pairs
===================================================================

Ten labels of each digit give the inner layers of a deep network little to learn from: the plain
network gets worse with depth. A penalty that keeps neighbours near each other, labelled or not,
gives the output or every layer a task of its own. This is the study of Weston, Ratle and Collobert
(2008), in small.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

X, truth = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, truth = X[order] / 16, truth[order]
rows, held, wanted = X[:1200], X[1200:], truth[1200:]
y = np.full(1200, -1)
for digit in range(10):
    y[np.flatnonzero(truth[:1200] == digit)[:10]] = digit
known = y >= 0

# %%
# The error on held-out digits, in percent, for networks of 2 to 15 layers of 50 units.

depths, errors = (2, 6, 10, 15), {"plain": [], "output": [], "all": []}
shared = {"activation": "tanh", "learning_rate_init": 0.003, "max_iter": 150, "tol": None}
for depth in depths:
    sizes = (50,) * depth
    plain = th.MLPClassifier(sizes, random_state=0, **shared).fit(rows[known], y[known])
    output = th.EmbeddingNetwork(
        sizes, embedding="output", embedding_alpha=1.0, random_state=0, **shared
    ).fit(rows, y)
    every = th.EmbeddingNetwork(sizes, random_state=0, **shared).fit(rows, y)
    for name, model in zip(errors, (plain, output, every), strict=True):
        errors[name].append(100 * (1 - model.score(held, wanted)))
print("layers " + "".join(f"{depth:6d}" for depth in depths))
for name, row in errors.items():
    print(f"{name:7s}" + "".join(f"{error:6.1f}" for error in row))

# %%
# A kernel machine with the same graph, for comparison.

machine = th.LaplacianSVM(
    loss="softmax_cross_entropy", kernel=th.kernels.RBF(sigma=1.5), n_components=300, random_state=0
).fit(rows, y)
baseline = 100 * (1 - machine.score(held, wanted))
print(f"LaplacianSVM {baseline:.1f}")

# %%

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
names = ("plain network", "penalty at the output", "penalty at all layers")
for name, row in zip(names, errors.values(), strict=True):
    axis.plot(depths, row, marker="o", label=name)
axis.axhline(baseline, color="grey", linestyle="--", label="LaplacianSVM")
axis.set(xlabel="hidden layers of 50 units", ylabel="error on held-out digits, %", ylim=(0, None))
axis.legend()
plt.show()
