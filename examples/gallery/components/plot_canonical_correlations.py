"""
Canonical correlations of two views
===================================

Two tables describe the same rows: here the upper and the lower half of pictures of digits.
Canonical correlation analysis finds pairs of directions, one in each table, whose scores are
correlated as closely as possible. The correlations of the training rows are too large, because the
directions were chosen for them; those of held-out rows show which pairs are real: the fourth pair
describes a few rare pixels. Canonical partial least squares maximises the covariance instead, which
avoids such pixels, but finds less correlation. The principal components of the two halves are
related less closely still, because they describe what varies most within each half. No label is
used, but the digits have different scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import thetahat as th

digits = load_digits()
upper, lower = digits.data[:, :32], digits.data[:, 32:]
train, test = np.arange(0, 1797, 2), np.arange(1, 1797, 2)
k = 12


def correlations(T, U):
    """The correlation of each pair of scores."""
    return np.array([np.corrcoef(t, u)[0, 1] for t, u in zip(T.T, U.T, strict=True)])


model = th.CCA(n_components=k).fit(upper[train], lower[train])
held_out = correlations(*model.transform(upper[test], lower[test]))
covarying = th.PLSCanonical(n_components=k).fit(upper[train], lower[train])
of_covariance = correlations(*covarying.transform(upper[test], lower[test]))
halves = [th.PCA(k).fit(half[train]).transform(half[test]) for half in (upper, lower)]
principal = np.abs(correlations(*halves))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
pairs = np.arange(1, k + 1)
left.plot(pairs, model.correlations_, "o-", label="CCA, training rows")
left.plot(pairs, held_out, "o-", label="CCA, held-out rows")
left.plot(pairs, of_covariance, "o-", label="PLSCanonical, held-out rows")
left.plot(pairs, principal, "o--", color="grey", label="PCA of each half, held-out rows")
left.set_xlabel("pair")
left.set_ylabel("correlation of the two scores")
left.set_ylim(0, 1.4)
left.legend(loc="upper right")

T, U = model.transform(upper[test], lower[test])
for digit, colour in ((0, "tab:blue"), (4, "tab:orange"), (7, "tab:green")):
    rows = digits.target[test] == digit
    right.plot(T[rows, 0], U[rows, 0], ".", color=colour, label=f"digit {digit}")
right.set_xlabel("first score of the upper half")
right.set_ylabel("first score of the lower half")
right.set_title(f"correlation {held_out[0]:.2f} of held-out rows")
right.legend()
plt.show()

# %%
# `PLSSVD` finds all pairs of one singular value decomposition. Their covariances are those of
# the training rows, and only scores of the same pair are related.

model = th.PLSSVD(n_components=3).fit(upper[train], lower[train])
T, U = model.transform(upper[train], lower[train])
print(np.round(T.T @ U / (len(train) - 1), 3) + 0.0)
