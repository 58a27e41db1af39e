"""
Partial least squares and principal components
==============================================

The direction in which rows vary most may have nothing to do with the target. Here most of the
variance lies in two columns of noise. Principal components start with them; partial least squares
looks for directions that vary together with the target, and needs fewer of them. Five folds choose
the number of components. With all components both are ordinary least squares.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import thetahat as th

rng = np.random.default_rng(0)
factors = rng.normal(size=(120, 6))
X = factors @ rng.normal(size=(6, 12)) + 0.3 * rng.normal(size=(120, 12))
X[:, :2] += 10 * rng.normal(size=(120, 2))
y = factors[:, 0] - factors[:, 1] + 0.5 * rng.normal(size=120)

counts = np.arange(1, 13)
model = th.PLSRegression("cv", scale=False).fit(X, y)
errors = model.cv_errors_ / y.var()


def of_components(k):
    pipeline = make_pipeline(th.PCA(k), th.LinearRegression())
    return -cross_val_score(pipeline, X, y, cv=5, scoring="neg_mean_squared_error") / y.var()


principal = np.array([of_components(k) for k in counts])

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, found in (("PLS", errors.T), ("PCA, then least squares", principal)):
    band = found.std(axis=1, ddof=1) / np.sqrt(5)
    ax.errorbar(counts, found.mean(axis=1), band, marker="o", capsize=3, label=name)
ax.axvline(model.n_components_, color="grey", linestyle=":", label="chosen by cross-validation")
ax.set_xlabel("number of components")
ax.set_ylabel("error of held-out rows / variance of y")
ax.legend()
plt.show()
