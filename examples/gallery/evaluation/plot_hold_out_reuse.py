"""
Using a hold-out set repeatedly
===============================

Thirty useless models are tested on the same hundred rows. The best of them seems better than
chance, because it was selected for that. `HoldOut` counts its uses and widens each later interval,
so that all intervals together contain the true error, one half. The narrow bars are valid for
models that were fixed before the first use; where earlier results influence the next model, the
wide bars are needed.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th


class Coin:
    """A classifier that guesses."""

    def __init__(self, seed):
        self.seed = seed

    def predict(self, X):
        return np.random.default_rng(self.seed).integers(0, 2, len(X))


labels = np.random.default_rng(5).integers(0, 2, 200)
warnings.simplefilter("ignore", th.errors.ReuseWarning)


def intervals(chosen):
    hold = th.HoldOut(np.zeros((200, 1)), labels, share=0.5, chosen=chosen)
    answers = [hold.error(Coin(seed)) for seed in range(30)]
    return np.array([[answer.low, answer.estimate, answer.high] for answer in answers]).T


# %%

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
uses = np.arange(1, 31)
low, mid, high = intervals("by_answers")
axes.vlines(uses, low, high, color="0.8", lw=4, label="models chosen by earlier answers")
low, mid, high = intervals("beforehand")
axes.errorbar(uses, mid, yerr=[mid - low, high - mid], fmt="o", lw=1, label="fixed beforehand")
best = mid.argmin()
words = f"the best looks like {mid[best]:.0%}"
axes.plot(uses[best], mid[best], "o", color="C3", ms=8, zorder=3, label=words)
axes.axhline(0.5, color="black", lw=0.8, ls="--", label="the truth")
axes.set(xlabel="use of the hold-out set", ylabel="error")
axes.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()
