"""
Coefficients of ridge regression along the penalty
==================================================

Ridge regression adds α‖β‖² to the squared error. The six columns of Longley's data almost determine
one another, so least squares finds large coefficients of opposite sign. The penalty prevents that:
the coefficients become stable long before the error grows visibly, and all of them tend to zero as
α grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

data = th.datasets.load_longley()
deviation = data.X.std(axis=0)
alphas = np.logspace(-4, 3, 80)
models = [th.Ridge(alpha=alpha, standardize=True).fit(data.X, data.y) for alpha in alphas]

# %%
# Coefficients are shown per standard deviation of their column, which is the scale of the penalty.

coefficients = np.array([model.coef_ for model in models]) * deviation
errors = [np.mean((model.predict(data.X) - data.y) ** 2) ** 0.5 for model in models]

figure, (above, below) = plt.subplots(
    2, 1, figsize=(7, 6), sharex=True, height_ratios=(3, 1), layout="constrained"
)
above.semilogx(alphas, coefficients, label=data.feature_names)
above.axhline(0.0, color="black", lw=0.6)
above.set(ylabel="coefficient per standard deviation")
above.legend(frameon=False, ncols=2)
below.semilogx(alphas, errors, color="black")
below.set(xlabel="penalty α", ylabel="error")
plt.show()
