"""
The path of ridge regression
============================

Ridge adds α‖β‖² to the squared error. Longley's six economic columns nearly determine one another,
so plain least squares is free to balance large coefficients of opposite sign. The penalty takes
that freedom away: the coefficients settle long before the fit gets visibly worse, and all go to
zero as α grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

data = th.datasets.load_longley()
deviation = data.X.std(axis=0)
alphas = np.logspace(-4, 3, 80)
models = [th.Ridge(alpha=alpha, standardize=True).fit(data.X, data.y) for alpha in alphas]

# %%
# Coefficients are shown per standard deviation of their column, which is what the penalty sees.

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
