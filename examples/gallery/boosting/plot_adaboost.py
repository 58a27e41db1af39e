"""
AdaBoost with decision stumps
=============================

A decision stump uses one threshold of one column, and cannot separate a disc from the ring around
it. AdaBoost fits one stump after another, each to the rows that the previous ones got wrong, and
lets them vote. A row that is still wrong gains weight (the size of its dot).
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)


def disc_and_ring(n):
    X = random.normal(size=(n, 2))
    return X, (np.linalg.norm(X + 0.1 * random.normal(size=(n, 2)), axis=1) < 1.2).astype(int)


X, y = disc_and_ring(300)
X_test, y_test = disc_and_ring(2000)
model = th.AdaBoostClassifier(n_estimators=200).fit(X, y)

# %%
# After one round there is a single cut, after fifty the disc is visible.

across, up = np.meshgrid(np.linspace(-3, 3, 200), np.linspace(-3, 3, 200))
grid = np.column_stack([across.ravel(), up.ravel()])
regions = list(islice(model.staged_decision_function(grid), 50))
weights = list(model.staged_sample_weight(X, y))
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for panel, rounds in zip(panels, (1, 5, 50), strict=True):
    score = regions[rounds - 1].reshape(across.shape)
    panel.contourf(
        across, up, score, levels=[-2, 0, 2], colors=["tab:blue", "tab:orange"], alpha=0.25
    )
    size = 12 * weights[rounds] / weights[rounds].mean()
    panel.scatter(*X.T, s=size, c=np.where(y == 1, "tab:orange", "tab:blue"), lw=0)
    panel.set(title=f"{rounds} round{'s' * (rounds > 1)}", xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁")
panels[0].set(ylabel="x₂")
plt.show()

# %%
# The exponential loss falls in every round and is an upper bound of the training error. The
# training error itself may rise in some rounds.

rounds = np.arange(1, len(model.estimators_) + 1)
test_error = 1 - np.array(list(model.staged_score(X_test, y_test)))
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
panel.plot(rounds, model.training_error_bound_, color="0.5", ls="--", label="bound")
panel.plot(rounds, model.training_errors_, color="black", label="training rows")
panel.plot(rounds, test_error, color="tab:red", label="new rows")
panel.set(xlabel="rounds", ylabel="share of errors", xscale="log", ylim=(0, 1.05))
panel.legend(frameon=False)
plt.show()

# %%
# The margin of a row is the share of votes for its label minus the share against it. More rounds
# raise the smallest margins and lower the largest ones.

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for rounds, shade in ((5, "0.75"), (50, "0.5"), (200, "black")):
    short = th.AdaBoostClassifier(n_estimators=rounds).fit(X, y)
    margins = np.sort(short.margins(X, y))
    share = np.arange(1, len(y) + 1) / len(y)
    panel.step(margins, share, where="post", color=shade, label=f"{rounds} rounds")
panel.axvline(0.0, color="tab:red", lw=0.8)
panel.set(xlabel="margin", ylabel="share of rows with at most that", xlim=(-1, 1))
panel.legend(frameon=False)
plt.show()
