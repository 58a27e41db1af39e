"""
What the bounds promise, and what happens
=========================================

Concentration bounds hold for every distribution, so for any one of them they are generous. The
deviation of a mean of n coin flips is simulated; Chebyshev's bound and Hoeffding's lie above.
Below, the tightest axis-parallel rectangle: with the promised number of rows, its error exceeds ε
far less often than δ.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
deviations = np.linspace(0.01, 0.25, 40)
means = random.binomial(100, 0.5, 100_000) / 100
simulated = [(np.abs(means - 0.5) > d).mean() for d in deviations]

figure, left = plt.subplots(figsize=(6, 4), layout="constrained")
left.semilogy(deviations, simulated, color="black", label="simulated, n = 100")
left.semilogy(deviations, [th.theory.hoeffding(100, d) for d in deviations], label="Hoeffding")
left.semilogy(deviations, [th.theory.chebyshev(d / 0.05) for d in deviations], label="Chebyshev")
left.set(xlabel="deviation of the mean", ylabel="probability", ylim=(1e-5, 1.5))
left.legend(frameon=False)
plt.show()

# %%
# Rectangles: rows uniform on the square, the truth is the box from 0.2 to 0.8.


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
