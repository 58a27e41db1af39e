"""
Least angle regression and the lasso
====================================

Least angle regression adds one column per step. The coefficients move so that all columns in use
keep the same correlation with the residual, until another column has that correlation too. With one
change it gives the whole path of the lasso: a column leaves when its coefficient becomes zero. The
two paths are equal up to this point (dashed line) and differ afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import thetahat as th

X, y = load_diabetes(return_X_y=True)
models = {"least angle regression": th.Lars(), "lasso": th.LassoLars(alpha=0.0)}
for name, model in models.items():
    model.fit(X, y)
    print(f"{name}: {model.n_iter_} steps, {len(model.active_)} columns in use at the end.")

# %%
# Between two nodes the coefficients are linear.

coefficients = models["lasso"].coef_path_
left = (coefficients[:, :-1] != 0) & (coefficients[:, 1:] == 0)
leaves = int(left.any(axis=0).argmax()) + 1
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.plot(np.abs(model.coef_path_).sum(axis=0), model.coef_path_.T, lw=1.4)
    ax.axvline(np.abs(coefficients[:, leaves]).sum(), color="0.5", ls="--", lw=0.8)
    ax.axhline(0.0, color="black", lw=0.6)
    ax.set(xlabel="sum of absolute coefficients", title=name)
axes[0].set_ylabel("coefficient")
plt.show()
