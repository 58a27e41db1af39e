"""
Logistic regression with an L1 penalty: the path
================================================

As C grows, columns enter the model one after another. The true model uses three of twelve columns;
these enter first. Each fit starts from the one before, so the whole path costs little more than one
fit. Cross-validation chooses where to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
X = random.standard_normal((400, 12))
score = X[:, :3] @ [2.0, -1.5, 1.0]
y = random.random(400) < 1 / (1 + np.exp(-score))

strengths = np.logspace(-2.2, 1, 50)
model = th.LogisticRegression(l1_ratio=1.0, warm_start=True, tol=1e-6)
path = np.array([model.set_params(C=C).fit(X, y).coef_[0] for C in strengths])

chosen = th.LogisticRegressionCV(
    Cs=strengths[::5], l1_ratios=[1.0], scoring="neg_log_loss", use_legacy_attributes=False
).fit(X, y)

# %%
# Grey: columns that do not influence the labels.

figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
panel.semilogx(strengths, path[:, 3:], color="0.7", lw=1)
for column, colour in enumerate(("tab:blue", "tab:orange", "tab:green")):
    panel.semilogx(strengths, path[:, column], color=colour, lw=2, label=f"column {column}")
panel.axvline(chosen.C_, color="black", lw=0.8, ls="--", label="chosen by folds")
panel.axhline(0.0, color="black", lw=0.6)
panel.set(xlabel="C (weak penalties to the right)", ylabel="coefficient")
panel.legend(frameon=False)
plt.show()
