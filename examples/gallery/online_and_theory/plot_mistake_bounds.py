"""
Counting mistakes: elimination, Winnow and the perceptron
=========================================================

Elimination learns a disjunction of three among two hundred variables with at most one mistake per
variable. Winnow multiplies its weights, and its number of mistakes grows only with the logarithm of
the number of irrelevant variables. The perceptron makes at most R²/ρ² mistakes on any sequence.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
widths = [10, 30, 100, 300, 1000]
counts = {"MonotoneDisjunction": [], "Winnow": []}
bounds = []
for width in widths:
    X = (random.random((1500, width)) < 0.1).astype(float)
    y = X[:, :3].any(axis=1)
    counts["MonotoneDisjunction"].append(th.online.MonotoneDisjunction().fit(X, y).mistakes_)
    winnow = th.online.Winnow(n_relevant=3).fit(X, y)
    counts["Winnow"].append(winnow.mistakes_)
    bounds.append(winnow.mistake_bound_)
negated = th.online.Disjunction().fit(X, (X[:, 0] == 0) | (X[:, 1] == 1))
print(f"with negations: {negated.mistakes_} mistakes, bound {negated.mistake_bound_}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for name, mistakes in counts.items():
    left.loglog(widths, mistakes, "o-", label=name)
left.loglog(widths, bounds, "--", color="C1", label="Winnow's bound")
left.set(xlabel="variables", ylabel="mistakes")
left.legend(frameon=False)

separator = np.array([1.0, -1.0, 0.5])
for margin in (0.05, 0.1, 0.2, 0.4, 0.8):
    X = random.standard_normal((4000, 3))
    X = X[np.abs(X @ separator) / np.linalg.norm(separator) > margin][:1500]
    learner = th.online.OnlinePerceptron(bias=False, separator=separator)
    learner.fit(X, X @ separator > 0)
    right.loglog(learner.margin_, learner.mistakes_, "o", color="C0")
    right.loglog(learner.margin_, learner.mistake_bound_, "_", color="black", ms=14)
right.set(xlabel="margin ρ", ylabel="mistakes (dots) and R²/ρ² (bars)")
right.set_xticks([0.05, 0.1, 0.2, 0.4], ["0.05", "0.1", "0.2", "0.4"])
right.minorticks_off()
plt.show()
