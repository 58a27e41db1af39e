"""
Coefficients of the lasso along the penalty
===========================================

The lasso adds α‖β‖₁ to half the mean squared error. For a large α all coefficients are zero. As α
falls, one coefficient after another becomes nonzero, and between two such events each of them is
linear in α (curved here, because the axis is logarithmic). The columns that generated the data
enter first and end close to their true values (dots); noise columns enter last.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
X = random.standard_normal((100, 30))
true = np.zeros(30)
true[:5] = [3.0, -2.0, 1.5, -1.0, 0.6]
y = X @ true + random.standard_normal(100)

alphas, coefficients, gaps = th.lasso_path(X, y, eps=1e-2, alphas=200, tol=1e-10)

# %%
# Each point of the path has a duality gap: no coefficients can lower the objective by more than
# this.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for j, path in enumerate(coefficients):
    axes.semilogx(alphas, path, color=f"C{j}" if j < 5 else "0.75", lw=1.6 if j < 5 else 0.8)
    if true[j]:
        axes.plot(alphas[-1], true[j], "o", color=f"C{j}")
axes.axhline(0.0, color="black", lw=0.6)
axes.invert_xaxis()
axes.set(xlabel="penalty α", ylabel="coefficient", title=f"largest duality gap {gaps.max():.0e}")
plt.show()
