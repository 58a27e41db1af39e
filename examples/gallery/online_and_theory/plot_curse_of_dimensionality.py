"""
The curse of dimensionality
===========================

Ten bins per axis make 10^D cells. A classifier that keeps one label per cell needs rows in all of
them, so the number of rows that it needs is multiplied by ten with every column. Neighbourhoods
suffer in the same way: in ten dimensions a cube that holds one percent of the rows reaches over
63 % of every axis, and two thirds of the volume is within 0.05 of the surface.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

dimensions = np.arange(1, 21)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for n in (1_000, 1_000_000, 1_000_000_000):
    found = th.theory.curse_of_dimensionality(dimensions, bins=10, n=n)
    left.semilogy(dimensions, found.filled, "o-", ms=3, label=f"{n:,} rows")
left.set(xlabel="dimensions", ylabel="share of the cells that hold a row", ylim=(1e-12, 2))
left.legend(frameon=False, loc="lower left")
right.plot(dimensions, found.edge, "o-", ms=3, label="edge of a cube with 1% of the rows")
right.plot(dimensions, found.shell, "o-", ms=3, label="volume within 0.05 of the surface")
right.plot(dimensions, found.ball, "o-", ms=3, label="volume of the largest ball inside")
right.set(xlabel="dimensions", ylabel="share of the unit cube", ylim=(-0.05, 1.4))
right.legend(frameon=False, loc="upper right")
for axes in (left, right):
    axes.set_xticks(range(2, 21, 2))
plt.show()

# %%
# The same as a table, for a thousand rows.

print(th.theory.curse_of_dimensionality([1, 2, 3, 5, 10, 20], n=1000))
