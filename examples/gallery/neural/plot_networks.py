"""
Decision boundaries by depth, and functions from steps
======================================================

A network without hidden layers has a straight boundary. Hidden layers bend it. A network of steps,
built by hand, computes exclusive-or and approximates any continuous function of one variable.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import thetahat as th

X, y = make_moons(300, noise=0.2, random_state=0)
side = np.linspace(-2, 3, 120)
grid = np.array([(a, b) for b in side for a in side])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for axis, sizes in zip(axes, [(), (8,), (16, 16)], strict=True):
    model = th.MLPClassifier(sizes, "tanh", solver="lbfgs", alpha=0.1, tol=2e-3, random_state=0)
    model.fit(X, y)
    p = model.predict_proba(grid)[:, 1].reshape(120, 120)
    axis.contourf(side, side, p, levels=10, cmap="coolwarm", alpha=0.6)
    axis.scatter(*X.T, c=y, cmap="coolwarm", s=8, edgecolor="black", linewidth=0.2)
    axis.set(title=f"{len(sizes)} hidden layers: {model.score(X, y):.2f}", xlabel="x₁", ylabel="x₂")
plt.show()

# %%
# Steps of the right heights approximate a function within K/m.

x = np.linspace(0, 1, 1000)[:, None]
figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
for m in (5, 20):
    network = th.neural.step_network(lambda x: np.sin(6 * x), n_steps=m)
    axis.plot(x, network(x), label=f"{m} steps")
axis.plot(x, np.sin(6 * x), color="black", linewidth=1, label="sin 6x")
axis.set(title="Approximation by steps", xlabel="x", ylabel="f(x)")
axis.legend()
plt.show()

# %%
# Exclusive-or needs a hidden layer.

step = th.activations.Step(at_zero=1)
xor = th.neural.Network(2, [th.neural.Dense(2, step), th.neural.Dense(1, step)]).with_weights(
    [([[1, 1], [1, 1]], [-1.5, -0.5]), ([[-1], [1]], [-0.5])]
)
print(xor([[0, 0], [0, 1], [1, 0], [1, 1]]).ravel())

# %%
# Any loss trains a network: here the absolute loss, which outliers do not move.

z = np.sin(6 * x).ravel()
z[::10] += 5
robust = th.MLPRegressor(
    loss="absolute", hidden_layer_sizes=(30,), activation="tanh", learning_rate_init=0.01,
    tol=None, random_state=0,
).fit(x, z)  # fmt: skip
print(f"largest error {np.abs(robust.predict(x) - np.sin(6 * x).ravel()).max():.2f}")
