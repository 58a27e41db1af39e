"""
How much ridge
==============

`RidgeCV` leaves out every row once, in closed form, for every penalty of a grid. Too little
penalty follows the noise, too much misses the signal; the least error left out lies between.
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
# The error on the rows that were fitted only ever grows with the penalty: it cannot choose.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.loglog(alphas, left_out, label="rows left out")
axes.loglog(alphas, training, label="rows fitted")
axes.axvline(model.alpha_, color="black", lw=0.8, ls="--", label=f"chosen: α = {model.alpha_:.3g}")
axes.set(xlabel="penalty α", ylabel="mean squared error")
axes.legend(frameon=False)
plt.show()
