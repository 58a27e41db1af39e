"""
Choosing the penalty of the lasso
=================================

`LassoCV` computes a path for each fold and measures the squared error on the held-out rows. A large
penalty drops columns that matter; a small one fits the noise. Here all five folds share one pass
over the rows: the moments of four folds are merged for training, and those of the fifth give the
error.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.standard_normal((200, 60))
y = X[:, :6] @ [2.0, -1.5, 1.0, 1.0, -0.5, 0.5] + 2.0 * random.standard_normal(200)

model = th.LassoCV(cv=5, eps=1e-2).fit(X, y)

# %%
# The model is fitted again to all rows at the penalty of the smallest mean error.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.semilogx(model.alphas_, model.mse_path_, color="0.75", lw=0.8)
axes.semilogx(model.alphas_, model.mse_path_.mean(axis=1), color="C0", lw=2, label="mean of folds")
axes.axvline(model.alpha_, color="C3", ls="--", label=f"chosen: {np.sum(model.coef_ != 0)} columns")
axes.invert_xaxis()
axes.set(xlabel="penalty α", ylabel="mean squared error held out")
axes.legend(frameon=False)
plt.show()
