"""
Bayes error and decision regions
================================

With known priors and densities, the Bayes rule decides for the larger prior times density. Its
regions are coloured, and its error is the area below the smaller curve. Normal densities of
different width have three regions. On the right, the error of rules that compare x with a threshold
is shown for the densities 2 − 2x and 2x: the best threshold of rule A reaches the Bayes error 1/4.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import thetahat as th

problem = th.theory.DecisionProblem(
    [0.4, 0.6], [norm(0, 1), norm(1.5, 2.5)], classes=["narrow", "wide"]
)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
problem.plot(left)
x = np.linspace(-8, 10, 600)
left.fill_between(x, problem.joint(x).min(axis=1), color="0.3", alpha=0.4, lw=0)
left.set(xlim=(-6, 9), title=f"Bayes error {problem.bayes_error():.4f}")
print(problem.errors())
for region in problem.regions():
    print(region)

toy = th.theory.DecisionProblem([0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))
thresholds = np.linspace(0, 1, 41)
for name, below, above in (("A: 1 above t", 0, 1), ("B: 1 below t", 1, 0)):
    errors = [toy.error(th.theory.threshold_rule(t, below=below, above=above)) for t in thresholds]
    right.plot(thresholds, errors, label=f"rule {name}")
right.axhline(toy.bayes_error(), color="black", lw=0.8, ls="--", label="Bayes error")
right.set(xlabel="threshold t", ylabel="probability of an error", ylim=(0, 1))
right.legend(frameon=False)
plt.show()
