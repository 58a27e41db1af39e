"""
Equal noise for counts: the Anscombe transform
==============================================

The variance of a Poisson count equals its mean, so large counts are noisier. The Anscombe transform
2·√(y + 3/8) gives all counts a variance close to 1. Least squares can then give all rows the same
weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
means = np.arange(1.0, 41.0)
counts = random.poisson(means, size=(20_000, means.size)).astype(float)
steady = th.AnscombeTransform().fit_transform(counts)

# %%

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(means, counts.var(axis=0), label="counts")
axes.plot(means, steady.var(axis=0), label="after the transform")
axes.axhline(1.0, color="black", lw=0.8, ls="--")
axes.set(xlabel="mean of the counts", ylabel="variance", yscale="log")
axes.legend(frameon=False)
plt.show()
