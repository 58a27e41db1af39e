"""
Concentration bounds and simulations
====================================

Concentration bounds hold for every distribution, so for a particular one they are not tight. Each
bound is compared with a simulation: Markov for waiting times, Chebyshev and Hoeffding for means of
a hundred coin flips, the union bound for twenty rare events. Hoeffding uses that the values are
bounded and independent, and is much tighter than Chebyshev for large deviations. Below, the
smallest axis-parallel rectangle: with the number of rows from the bound, its error exceeds ε far
less often than δ.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import bernoulli, expon

import thetahat as th

random = np.random.default_rng(0)
coin = bernoulli(0.5)
experiments = [
    ("markov", np.linspace(0.5, 8, 25), 1, expon()),
    ("union", np.geomspace(0.0005, 0.2, 25), 20, None),
    ("chebyshev", np.linspace(0.5, 4, 25), 100, coin),
    ("hoeffding", np.linspace(0.025, 0.2, 25), 100, coin),  # 0.5 to 4 standard deviations of 0.05
]
figure, panels = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for axes, (bound, at, n, law) in zip(panels.flat, experiments, strict=True):
    found = th.theory.simulate(
        bound, at, n=n, distribution=law, repetitions=20_000, random_state=random
    )
    found.plot(axes)
    axes.set_title(f"n = {n}: {'holds' if found.holds else 'is broken'} everywhere")
panels[0, 1].set_xscale("log")
plt.show()

# %%
# Rectangles: the rows are uniform on the square, and the true box reaches from 0.2 to 0.8.


def draw(n, random):
    X = random.random((n, 2))
    return X, ((X > 0.2) & (X < 0.8)).all(axis=1)


figure, right = plt.subplots(figsize=(6, 4), layout="constrained")
promised = th.theory.rectangle_sample_size(error=0.1, failure=0.05)
sizes = np.array([20, 40, 80, promised])
for n in sizes:
    errors = []
    for _ in range(300):
        box = th.AxisParallelRectangle().fit(*draw(int(n), random))
        errors.append(0.36 - np.prod(box.high_ - box.low_))
    right.plot(np.full(300, n), errors, ".", color="C0", alpha=0.15)
    right.plot(n, np.quantile(errors, 0.95), "_", color="black", ms=16)
right.axhline(0.1, color="C3", lw=0.8, label="ε = 0.1")
right.axvline(promised, color="0.6", lw=0.8, ls="--", label=f"promised: {promised} rows")
right.set(xlabel="rows", ylabel="true error of the tightest box")
right.legend(frameon=False)
plt.show()
