"""
Costs and rejected decisions
============================

A decision needs class probabilities and costs. On the left, missing the rare class costs five times
as much as a false alarm, which widens its region, and a rejection costs 0.25, which takes the rows
in between. On the right, logistic regression rejects the rows about which it is least sure: the
error on the other rows falls.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import thetahat as th

problem = th.theory.DecisionProblem(
    [0.8, 0.2], [norm(0, 1), norm(2.5, 1)], classes=["usual", "rare"]
)
costs = [[0.0, 1.0], [5.0, 0.0]]
rules = {
    "errors cost 1": problem.bayes_rule(),
    "a miss costs 5": problem.bayes_rule(costs=costs),
    "rejections cost 0.25": problem.bayes_rule(costs=costs, reject_cost=0.25),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
x = np.linspace(-3, 6, 500)
left.plot(x, problem.posterior(x)[:, 1], "k", label="p(rare | x)")
colors = {"usual": "C0", "rare": "C1", "reject": "0.6"}
for height, (name, rule) in enumerate(rules.items()):
    for region in problem.regions(rule):
        start, stop = max(region.low, -3), min(region.high, 6)
        left.barh(-0.15 * (height + 1), stop - start, 0.1, left=start, color=colors[region.label])
    found = problem.errors(rule)
    cost = found.expected_cost(costs, reject_cost=0.25)
    print(f'The rule "{name}" costs {cost:.4f} per row if a miss costs 5 and a rejection 0.25.')
    left.text(-2.9, -0.15 * (height + 1), name, va="center", fontsize=8, color="white")
for label, color in colors.items():
    left.fill_between([], [], color=color, label=f"decided: {label}")
left.set(xlabel="x", xlim=(-3, 6), ylabel="probability", yticks=[0, 0.5, 1])
left.legend(frameon=False, loc="center left")

random = np.random.default_rng(0)
y = np.where(random.random(6000) < 0.2, "rare", "usual")
X = random.standard_normal((6000, 2)) + np.where(y == "rare", 1.3, 0.0)[:, None]
model = th.LogisticRegression().fit(X[:3000], y[:3000])
p = model.predict_proba(X[3000:])
rejected, errors = [], []
for cost in np.linspace(0.02, 0.5, 40):
    found = th.theory.bayes_decision(p, classes=model.classes_, reject_cost=cost)
    kept = ~found.rejected
    rejected.append(found.rejected.mean())
    errors.append(np.mean(found.labels[kept] != y[3000:][kept]))
right.plot(rejected, errors, "o-", ms=3)
right.set(xlabel="share of rejected rows", ylabel="error on the other rows", ylim=(0, None))
plt.show()
