"""
Labels of sequences
===================

A machine is idle, runs, or is in trouble, and stays in its state for a while; two sensors show the
state with much noise. A classifier of single rows changes its mind at every outlier. A structured
support vector machine also learns scores of neighbouring labels and predicts the best sequence as a
whole. With the logistic loss the same chain is a conditional random field.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

states = np.array(["idle", "runs", "trouble"])
centres = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])


def record(length, random):
    """States that stay with probability 0.9, and what the sensors show of them."""
    state = [int(random.integers(3))]
    while len(state) < length:
        state.append(state[-1] if random.random() < 0.9 else int(random.integers(3)))
    return centres[state] + random.standard_normal((length, 2)), states[state]


random = np.random.default_rng(0)
X, y = zip(*(record(20, random) for _ in range(60)), strict=True)
new, truth = zip(*(record(60, random) for _ in range(20)), strict=True)

single = th.LinearSVC().fit(np.vstack(X), np.concatenate(y))
chain = th.StructuredSVM("chain", alpha=0.1, tol=1e-4).fit(X, y)
field = th.StructuredSVM("chain", alpha=0.1, loss="logistic", tol=1e-4).fit(X, y)
print(f"single rows           {single.score(np.vstack(new), np.concatenate(truth)):.1%} right")
print(f"structured machine    {chain.score(new, truth):.1%} right, {chain.solution_.message}")
print(f"random field          {field.score(new, truth):.1%} right")

# %%
# Left: one new sequence. Right: the learned scores of neighbouring labels; states tend to stay.

predictions = {
    "truth": truth[0],
    "single rows": single.predict(new[0]),
    "structured machine": chain.predict(new[:1])[0],
    "random field": field.predict(new[:1])[0],
}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.2), width_ratios=(2.4, 1), layout="constrained"
)
table = np.array([np.searchsorted(states, labels) for labels in predictions.values()])
left.imshow(table, aspect="auto", cmap="viridis", interpolation="nearest")
left.set(xlabel="position", yticks=range(4), yticklabels=predictions)
left.set_title("idle: dark, runs: green, trouble: yellow", fontsize=10)
scores = chain.transition_ - chain.transition_.mean()
picture = right.imshow(scores, cmap="RdBu", vmin=-np.abs(scores).max(), vmax=np.abs(scores).max())
right.set(xticks=range(3), yticks=range(3), xticklabels=states, yticklabels=states)
right.set(xlabel="next label", ylabel="label")
figure.colorbar(picture, ax=right, label="score")
plt.show()
