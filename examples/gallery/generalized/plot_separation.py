"""
Separated classes: why a penalty is needed
==========================================

Where a threshold separates the classes without error, the likelihood has no maximum: a steeper
curve always fits better. A fit without a penalty reports this with a `SeparationWarning`; with any
penalty the solution exists.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

X = np.array([-2.0, -1.4, -0.9, -0.4, 0.5, 0.8, 1.5, 2.1])[:, None]
y = (X[:, 0] > 0).astype(int)
x = np.linspace(-2.5, 2.5, 400)[:, None]

figure, left = plt.subplots(figsize=(6, 3.8), layout="constrained")
for C, colour in ((0.1, "tab:blue"), (1.0, "tab:green"), (100.0, "tab:orange")):
    model = th.LogisticRegression(C=C).fit(X, y)
    left.plot(x, model.predict_proba(x)[:, 1], color=colour, label=f"C = {C:g}")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = th.LogisticRegression(C=np.inf).fit(X, y)
left.plot(x, model.predict_proba(x)[:, 1], color="tab:red", label="no penalty")
left.scatter(X, y, color="black", zorder=3)
left.set(xlabel="x", ylabel="probability", title=caught[0].category.__name__)
left.legend(frameon=False)
plt.show()

# %%
# The coefficient grows like the logarithm of C, without a limit.

strengths = np.logspace(-2, 5, 40)
slopes = [th.LogisticRegression(C=C, tol=1e-8).fit(X, y).coef_[0, 0] for C in strengths]
figure, right = plt.subplots(figsize=(6, 3.8), layout="constrained")
right.semilogx(strengths, slopes, color="black")
right.set(xlabel="C", ylabel="coefficient", title="grows without bound")
plt.show()
