"""
Several targets that use the same columns
=========================================

Twelve targets depend on the same few columns, with weights that change slowly from target to
target. The lasso fits each target separately, and its choice of columns varies. The multi-task
lasso penalises all coefficients of a column as one vector, α Σ_j ‖B_j‖₂, so a column is used for
all targets or for none. The multi-task elastic net adds a multiple of ‖B‖², which keeps correlated
columns together.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.standard_normal((60, 30))
time = np.linspace(0, 2 * np.pi, 12)
true = np.zeros((12, 30))
for column in range(5):
    true[:, column] = np.sin((1 + 0.3 * column) * time + column) + 0.2
Y = X @ true.T + 1.5 * random.standard_normal((60, 12))

alone = th.Lasso(alpha=0.35).fit(X, Y)
together = th.MultiTaskLasso(alpha=1.0).fit(X, Y)
milder = th.MultiTaskElasticNet(alpha=1.4, l1_ratio=0.7).fit(X, Y)

# %%
# Dark cells are coefficients that are not zero; a row is a target.

figure, panels = plt.subplots(4, 1, figsize=(7, 7.5), sharex=True, layout="constrained")
for panel, coefficients, name in zip(
    panels,
    (true, alone.coef_, together.coef_, milder.coef_),
    ("truth", "Lasso, one target at a time", "MultiTaskLasso", "MultiTaskElasticNet"),
    strict=True,
):
    panel.imshow(coefficients != 0, cmap="Greys", aspect="auto", vmin=0, vmax=1)
    panel.set(title=name, ylabel="target", yticks=(0, 5, 10))
panels[-1].set(xlabel="column")
plt.show()
