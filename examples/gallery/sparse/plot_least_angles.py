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

# %%
# Where should the path end? Cross-validation compares the nodes of the paths of all folds, and an
# information criterion needs one path only.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for model in (th.LarsCV(), th.LassoLarsCV()):
    model.fit(X, y)
    name = type(model).__name__
    print(f"{name}: alpha = {model.alpha_:.3f}, {np.count_nonzero(model.coef_)} columns.")
    left.semilogx(model.cv_alphas_[1:], model.mse_path_.mean(axis=1)[1:], label=name)
left.set(xlabel="alpha", ylabel="held-out mean squared error")
left.legend()
for criterion in ("aic", "bic"):
    model = th.LassoLarsIC(criterion).fit(X, y)
    print(f"{criterion}: alpha = {model.alpha_:.3f}, {np.count_nonzero(model.coef_)} columns.")
    right.plot(model.alphas_[3:], model.criterion_[3:], ".-", label=criterion)
right.set(xlabel="alpha", ylabel="criterion")
right.legend()
plt.show()
