"""
Choosing the penalty by the evidence
====================================

The evidence p(y | λ) is the probability of the data under a prior of precision λ, with the
coefficients integrated out. A small λ spreads the probability over implausible coefficients, a
large λ excludes the true ones. `BayesianRidge` maximises the evidence without held-out rows. Its
penalty is close to the one with the smallest error on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
beta = 0.5 * random.standard_normal(30)
X, new = random.standard_normal((100, 30)), random.standard_normal((5000, 30))
y = X @ beta + 2.0 * random.standard_normal(100)

model = th.BayesianRidge(tol=1e-8).fit(X, y)
noise = model.alpha_**-0.5

# %%
# For the estimated noise: the evidence of every λ, and the error of its predictions.

precisions = np.logspace(-2, 3, 100)
evidence, error = [], []
for precision in precisions:
    other = th.BayesianLinearRegression(prior_covariance=1 / precision, noise=noise).fit(X, y)
    evidence.append(other.log_evidence_)
    error.append(np.sqrt(np.mean((other.predict(new) - new @ beta) ** 2)))

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
above.semilogx(precisions, evidence, color="tab:blue")
above.set(ylabel="log evidence")
below.semilogx(precisions, error, color="tab:orange")
below.set(xlabel="precision λ of the prior", ylabel="error on new rows")
for axis in (above, below):
    axis.axvline(model.lambda_, color="black", ls="--", lw=1, label="BayesianRidge")
    axis.axvline(1 / 0.25, color="gray", ls=":", lw=1.5, label="the truth")
above.legend(frameon=False)
plt.show()

# %%
# `ARDRegression` gives every coefficient a precision of its own. Where only a few columns matter,
# most coefficients become 0, and the others are hardly shrunk.

few = np.append([3.0, -2.0, 1.5, 1.0], np.zeros(26))
z = X @ few + random.standard_normal(100)
models = {"BayesianRidge": th.BayesianRidge(), "ARDRegression": th.ARDRegression()}
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
axis.plot(few, "k_", ms=12, label="truth")
for name, mark in (("BayesianRidge", "o"), ("ARDRegression", "s")):
    found = models[name].fit(X, z).coef_
    axis.plot(found, mark, ms=4, label=f"{name}: {np.count_nonzero(found)} columns")
axis.set(xlabel="column", ylabel="coefficient")
axis.legend(frameon=False)
plt.show()
