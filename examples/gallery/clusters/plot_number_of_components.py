"""
The number of components of a mixture
=====================================

More components always fit the training rows better. The information criterion adds a price for
each parameter, and held-out rows measure directly whether more components help. Both are compared
for four shapes of the covariances, each with its own number of parameters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold, cross_val_score

import thetahat as th

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.multivariate_normal([0, 0], [[1.0, 0.9], [0.9, 1.0]], 150),
        rng.multivariate_normal([3, 0], [[1.0, 0.9], [0.9, 1.0]], 150),
        rng.multivariate_normal([0, 4], [[1.0, -0.5], [-0.5, 0.5]], 150),
    ]
)
folds = KFold(5, shuffle=True, random_state=0)
counts = np.arange(1, 7)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
best = None
for kind in ("full", "tied", "diag", "spherical"):
    models = [
        th.GaussianMixture(
            k, covariance_type=kind, n_init=3, reg_covar=1e-3, max_iter=500, random_state=0
        )
        for k in counts
    ]
    bic = [model.fit(X).bic(X) for model in models]
    score = [cross_val_score(model, X, cv=folds).mean() for model in models]
    axes[0].plot(counts, bic, "o-", ms=4, label=kind)
    axes[1].plot(counts, score, "o-", ms=4, label=kind)
    if best is None or min(bic) < best[0]:
        best = min(bic), models[int(np.argmin(bic))]
axes[0].set(xlabel="components", title="BIC (smaller is better)")
axes[0].legend()
axes[1].set(xlabel="components", title="log-likelihood of held-out rows")

model = best[1]
x, y = np.meshgrid(np.linspace(-4, 7, 150), np.linspace(-4, 7, 150))
density = model.log_density(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
axes[2].contourf(x, y, density, levels=np.linspace(-12, -1, 12), cmap="Blues", extend="min")
axes[2].scatter(*X.T, c=model.predict(X), s=5, cmap="brg")
axes[2].set(title=f"smallest BIC: {model.n_components} components, {model.covariance_type}")
plt.show()
