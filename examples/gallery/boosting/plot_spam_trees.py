"""
A tree, boosted stumps and boosted trees on text
================================================

Messages are classified by how often they use certain words. No single word is enough, and a single
tree soon has too few rows left in its nodes. Boosting uses all rows for every tree: stumps add up
the effects of single words, and trees with five leaves also use combinations of words. A forest
averages deep trees instead.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
WORDS = 40
pull = random.normal(size=WORDS) * (random.random(WORDS) < 0.5)
pairs = random.choice(WORDS, (8, 2), replace=False)


def messages(n):
    """Shares of words, most of them absent; spam by single words and by pairs."""
    used = random.random((n, WORDS)) < 0.3
    shares = np.where(used, random.exponential(1.0, (n, WORDS)), 0.0)
    score = np.sqrt(shares) @ pull + 1.5 * (used[:, pairs[:, 0]] & used[:, pairs[:, 1]]).sum(axis=1)
    return shares, np.where(score + 0.7 * random.normal(size=n) > 1.2, "spam", "mail")


X, y = messages(2000)
X_new, y_new = messages(3000)

tree = th.DecisionTreeClassifier(min_samples_leaf=10).fit(X, y)
stumps = th.AdaBoostClassifier(n_estimators=200).fit(X, y)
leaves = th.DecisionTreeClassifier(max_leaf_nodes=5)
trees = th.AdaBoostClassifier(leaves, n_estimators=200, learning_rate=0.3).fit(X, y)
forest = th.RandomForestClassifier(100, random_state=0).fit(X, y)

# %%
# Errors on new messages by iteration.

figure, panel = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for model, color, name in (
    (stumps, "tab:orange", "boosted stumps"),
    (trees, "tab:red", "boosted trees, 5 leaves"),
):
    errors = 1 - np.array(list(model.staged_score(X_new, y_new)))
    panel.plot(np.arange(1, errors.size + 1), errors, color=color, label=name)
for model, style, name in ((tree, "--", "one tree"), (forest, ":", "random forest")):
    panel.axhline(1 - model.score(X_new, y_new), color="black", ls=style, lw=1, label=name)
panel.set(xlabel="rounds", ylabel="error on new messages", ylim=(0, None))
panel.legend(frameon=False, ncols=2)
plt.show()
