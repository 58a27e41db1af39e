"""
Choosing the penalty of ridge regression
========================================

`RidgeCV` computes the leave-one-out error in closed form for every penalty of a grid. A small
penalty fits the noise and a large one misses the signal; the smallest error lies between them.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

data = th.datasets.make_linear(60, 40, noise=4.0, random_state=0)
alphas = np.logspace(-2, 4, 60)
model = th.RidgeCV(alphas=alphas, store_cv_results=True).fit(data.X, data.y)
left_out = model.cv_results_.mean(axis=0)
training = [
    np.mean((th.Ridge(alpha=a).fit(data.X, data.y).predict(data.X) - data.y) ** 2) for a in alphas
]

# %%
# The error on the training rows always grows with the penalty, so it cannot choose one.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.loglog(alphas, left_out, label="rows left out")
axes.loglog(alphas, training, label="rows fitted")
axes.axvline(model.alpha_, color="black", lw=0.8, ls="--", label=f"chosen: α = {model.alpha_:.3g}")
axes.set(xlabel="penalty α", ylabel="mean squared error")
axes.legend(frameon=False)
plt.show()
