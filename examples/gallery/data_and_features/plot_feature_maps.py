"""
Curves from linear models: feature maps
=======================================

A linear model of new columns φ(x) is a curve in x. Monomials give a polynomial, similarities to
points of the data give a sum of bumps, and a `FeatureMap` takes any function of the rows. A
constant column, added by `BiasFeature`, replaces the intercept.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

import thetahat as th

random = np.random.default_rng(0)
X = np.sort(random.uniform(-3.0, 3.0, 50))[:, None]
y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 0] + 0.2 * random.standard_normal(50)
waves = {"sin 2x": lambda rows: np.sin(2.0 * rows), "cos 2x": lambda rows: np.cos(2.0 * rows)}

models = {
    "MonomialExpansion, degree 7": make_pipeline(
        th.MonomialExpansion(degree=7), th.LinearRegression()
    ),
    "SimilarityFeatures": make_pipeline(th.SimilarityFeatures(rbf_kernel), th.Ridge(alpha=0.1)),
    "FeatureMap of waves, BiasFeature": make_pipeline(
        th.FeatureMap(waves, keep_columns=True),
        th.BiasFeature(),
        th.LinearRegression(fit_intercept=False),
    ),
}

# %%

grid = np.linspace(-3.0, 3.0, 300)[:, None]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(X[:, 0], y, ".", color="0.5")
for name, model in models.items():
    axes.plot(grid[:, 0], model.fit(X, y).predict(grid), label=name)
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False)
plt.show()
