"""
Shrinking a covariance
======================

With few rows, the largest eigenvalues of the maximum-likelihood covariance are too large and the
smallest too small. Shrinking moves all of them towards their mean. Ledoit-Wolf and OAS estimate
from the same rows how much shrinking minimises the error; no held-out rows are needed.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

d, n = 40, 60
truth = th.distributions.MultivariateNormal(np.zeros(d), np.diag(np.geomspace(0.2, 5.0, d)))
X, held_out = truth.sample(n, random_state=0), truth.sample(5000, random_state=1)

amounts = np.geomspace(0.01, 1.0, 40)
models = [th.ShrunkCovariance(shrinkage=float(amount)).fit(X) for amount in amounts]
chosen = {"Ledoit-Wolf": th.LedoitWolf().fit(X), "OAS": th.OAS().fit(X)}

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
left.semilogx(amounts, [model.error_norm(truth.covariance) for model in models], color="black")
right.semilogx(amounts, [model.score(held_out) for model in models], color="black")
for (name, model), mark in zip(chosen.items(), ("s", "o"), strict=True):
    style = {"markersize": 5 if mark == "o" else 9, "label": f"{name}: {model.shrinkage_:.2f}"}
    left.plot(model.shrinkage_, model.error_norm(truth.covariance), mark, **style)
    right.plot(model.shrinkage_, model.score(held_out), mark, **style)
left.set(xlabel="shrinkage", ylabel="squared error of the covariance")
right.set(xlabel="shrinkage", ylabel="held-out log-likelihood per row", ylim=(-75, None))
left.legend(fontsize=9)
plt.show()

# %%
# The eigenvalues, largest first: shrinking brings them closer to those of the true covariance.

figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
spectra = {
    "true": truth.covariance,
    "maximum likelihood": th.EmpiricalCovariance().fit(X).covariance_,
    "OAS": chosen["OAS"].covariance_,
}
for (name, matrix), style in zip(spectra.items(), ("k-", "s", "o"), strict=True):
    axes.semilogy(range(1, d + 1), np.linalg.eigvalsh(matrix)[::-1], style, ms=4, label=name)
axes.set(xlabel="number of the eigenvalue", ylabel="eigenvalue")
axes.legend(fontsize=9)
plt.show()
