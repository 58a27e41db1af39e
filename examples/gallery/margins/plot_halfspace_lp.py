"""
Learning a halfspace by linear programming
==========================================

A labelled row is an inequality for the weights: a positive row 01010 means w₂ + w₄ > θ, a negative
row 01100 means w₂ + w₃ ≤ θ. So a halfspace that agrees with all rows is a feasible point of a
linear program, and a solver either finds one or proves that there is none.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

rows, labels = np.array([[0, 1, 0, 1, 0], [0, 1, 1, 0, 0], [1, 1, 0, 1, 0]]), [True, False, True]
model = th.HalfspaceLP().fit(rows, labels)
for row, label, inequality in zip(rows, labels, model.inequalities(rows, labels), strict=True):
    print("".join(map(str, row)), "+" if label else "−", "⇒", inequality)

# %%
# Among all consistent halfspaces the one with the widest margin is chosen (left). With one row on
# the wrong side the inequalities contradict each other; the model reports this and minimises the
# total violation.

random = np.random.default_rng(0)
X = random.uniform(-1, 1, (60, 2))
side = X @ [1.0, 0.7] - 0.1
X, y = X[np.abs(side) > 0.15], np.sign(side[np.abs(side) > 0.15])
contrary = y.copy()
contrary[np.argmax(X.sum(axis=1))] *= -1

figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for panel, targets in zip(panels, (y, contrary), strict=True):
    half = th.HalfspaceLP().fit(X, targets)
    ends = np.array([-1.05, 1.05])
    for level, style in ((0.0, "-"), (half.margin_[0], "--"), (-half.margin_[0], "--")):
        if level and not half.consistent_:
            continue
        panel.plot(
            ends, (half.threshold_[0] + level - half.coef_[0, 0] * ends) / half.coef_[0, 1],
            "k" + style, lw=1,
        )  # fmt: skip
    panel.scatter(*X.T, c=np.where(targets > 0, "tab:orange", "tab:blue"), s=18)
    panel.scatter(*X[half.violated_].T, s=80, facecolors="none", edgecolors="tab:red")
    state = "consistent" if half.consistent_ else f"inconsistent by {half.violation_:.1f}"
    panel.set(title=state, xlabel="x₁", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
panels[0].set(ylabel="x₂")
plt.show()
