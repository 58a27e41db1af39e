"""
Hire or not: from a probability to a decision
=============================================

The credentials of an applicant give a probability that the applicant will design good bicycles. In
the end a hard decision is needed. It depends on what the two errors cost: if a bad hire costs four
times as much as a missed talent, the probability must exceed 4/(4 + 1) = 0.8. Between yes and no
there may be a third answer: another interview, which settles the question at a price.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

BAD_HIRE, MISSED, INTERVIEW = 4.0, 1.0, 0.5


def applicants(n, seed):
    """Score of the portfolio, years of experience, and whether the designs turn out good."""
    random = np.random.default_rng(seed)
    portfolio, years = random.normal(0, 1, n), random.gamma(2.0, 2.0, n)
    log_odds = 1.6 * portfolio + 0.35 * (years - 4) + 0.3
    return np.column_stack([portfolio, years]), random.random(n) < 1 / (1 + np.exp(-log_odds))


X, good = applicants(600, seed=0)
X_new, good_new = applicants(4000, seed=1)
model = th.LogisticRegression().fit(X, good)
probability = model.predict_proba(X_new)

costs = [[0.0, BAD_HIRE], [MISSED, 0.0]]  # rows: bad, good; columns: not hired, hired
decided = th.theory.bayes_decision(probability, classes=["reject", "hire"], costs=costs)
careful = th.theory.bayes_decision(
    probability, classes=["reject", "hire"], costs=costs, reject_cost=INTERVIEW, reject_label="ask"
)


def mean_cost(labels):
    """Cost per applicant, with the price of interviews."""
    bad_hires = np.sum((labels == "hire") & ~good_new)
    missed = np.sum((labels == "reject") & good_new)
    asked = np.sum(labels == "ask")
    return (BAD_HIRE * bad_hires + MISSED * missed + INTERVIEW * asked) / len(labels)


half = np.where(probability[:, 1] >= 0.5, "hire", "reject")
threshold = BAD_HIRE / (BAD_HIRE + MISSED)
print(f"Hiring from a probability of 0.5 on costs {mean_cost(half):.3f} per applicant,")
print(f"from {threshold:.1f} on it costs {mean_cost(decided.labels):.3f},")
print(f"and with interviews in doubtful cases {mean_cost(careful.labels):.3f}.")
print(f"{np.mean(careful.labels == 'ask'):.0%} of the applicants are interviewed again.")
best = th.best_threshold(
    good_new, probability[:, 1], false_positive=BAD_HIRE, false_negative=MISSED
)
print(f"The best threshold on these applicants is {best.threshold:.2f}.")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for answer, color in (("reject", "tab:red"), ("ask", "0.6"), ("hire", "tab:green")):
    left.plot(*X_new[careful.labels == answer][:400].T, ".", ms=4, color=color, label=answer)
left.set(xlabel="score of the portfolio", ylabel="years of experience", title="decisions")
left.legend(loc="upper left", markerscale=3)
grid = np.linspace(0, 1, 201)
cost = [mean_cost(np.where(probability[:, 1] >= each, "hire", "reject")) for each in grid]
right.plot(grid, cost, label="cost on new applicants")
right.axvline(0.5, color="0.6", ls=":", label="0.5")
right.axvline(threshold, color="black", ls="--", label="4/(4 + 1)")
right.axhline(mean_cost(careful.labels), color="tab:orange", label="with interviews")
right.set(xlabel="hire from this probability on", ylabel="mean cost", ylim=(0, None))
right.set_title("what a threshold costs")
right.legend(loc="upper right", framealpha=1)
plt.show()
