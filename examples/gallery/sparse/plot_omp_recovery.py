"""
Recovering a sparse signal by matching pursuit
==============================================

A signal with twelve spikes among 400 places is observed through 100 random projections with noise.
Least squares has infinitely many solutions. Orthogonal matching pursuit selects the column that is
most correlated with the residual, fits again, and repeats; cross-validation decides when to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
n, d, spikes = 100, 400, 12
signal = np.zeros(d)
signal[random.choice(d, spikes, replace=False)] = random.choice([-1, 1], spikes) * random.uniform(
    1, 3, spikes
)
X = random.standard_normal((n, d))
y = X @ signal + 0.5 * random.standard_normal(n)

chosen = th.OrthogonalMatchingPursuitCV(max_iter=30, fit_intercept=False).fit(X, y)
given = th.OrthogonalMatchingPursuit(n_nonzero_coefs=spikes, fit_intercept=False).fit(X, y)
path = th.orthogonal_mp(X, y, n_nonzero_coefs=30, return_path=True)
residuals = np.linalg.norm(y[:, None] - X @ path, axis=0) / np.linalg.norm(y)

# %%
# The residual keeps falling after the last true spike: from there on noise is fitted, and the error
# on held-out rows rises.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
place = np.flatnonzero(signal)
left.stem(place, signal[place], linefmt="0.7", markerfmt="o", basefmt="k-", label="truth")
found = np.flatnonzero(chosen.coef_)
left.plot(found, chosen.coef_[found], "x", color="C3", ms=8, mew=2, label="pursuit, by CV")
known = np.flatnonzero(given.coef_)
left.plot(known, given.coef_[known], "+", color="C0", ms=10, label="given the number")
left.set(xlabel="place", ylabel="coefficient", title=f"{len(found)} columns taken")
left.set_ylim(-5.0, 3.5)
left.legend(frameon=False, loc="lower right", ncols=3)
steps = np.arange(1, 31)
right.plot(steps, residuals, label="residual / ‖y‖")
error = np.sqrt(chosen.mse_path_.mean(axis=1)) / y.std()
right.plot(steps, error, label="held-out error / spread of y")
right.axvline(spikes, color="0.7", ls="--", label="true number")
right.set(xlabel="columns taken", title="when to stop")
right.legend(frameon=False)
plt.show()
