"""
Stacking: the weight of each model
==================================

f = Σ αₘfₘ is a linear model whose columns are the predictions of other models, and α is found by
least squares. On the rows that the models were fitted to, the most overfitted model would look
best. Stacking uses out-of-fold predictions instead: each row is predicted by models that have not
seen it.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)


def rows(n):
    X = random.uniform(-2, 2, (n, 3))
    y = 1.5 * X[:, 0] + X[:, 2] + np.sin(3 * X[:, 1]) + 0.4 * random.standard_normal(n)
    return X, y


X, y = rows(400)
X_new, y_new = rows(5000)
members = [
    ("line", th.LinearRegression()),
    ("shallow tree", th.DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("deep tree", th.DecisionTreeRegressor(random_state=0)),
    ("bag", th.BaggingRegressor(n_estimators=50, random_state=0)),
]
combination = th.LinearCombination(positive=True, sum_to_one=True)

# %%
# The same members and the same final step, once on the rows they were fitted to (cv="prefit",
# misused) and once out of fold. The deep tree reproduces its own rows exactly, so it gets all the
# weight in the first case.

fitted = [(name, model.fit(X, y)) for name, model in members]
prefit = th.StackingRegressor(fitted, combination, cv="prefit").fit(X, y)
stacked = th.StackingRegressor(members, combination).fit(X, y)
mean = th.VotingRegressor(members).fit(X, y)


def error(model):
    return np.mean((model.predict(X_new) - y_new) ** 2) ** 0.5


figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
names = [name for name, _ in members]
place = np.arange(len(names))
left.bar(place - 0.2, prefit.final_estimator_.coef_, 0.4, label="on training rows")
left.bar(place + 0.2, stacked.final_estimator_.coef_, 0.4, label="out of fold")
left.set_xticks(place, names)
left.set(title="weights α ≥ 0, Σα = 1")
left.legend(frameon=False, loc="upper left")
alone = {name: error(model) for name, model in fitted}
together = {"equal weights": error(mean), "training rows": error(prefit), "stacked": error(stacked)}
both = alone | together
right.barh(list(both), list(both.values()), color=["0.7"] * len(alone) + ["tab:orange"] * 3)
right.axvline(0.4, color="black", lw=0.8, ls=":")
right.invert_yaxis()
right.set(title="error on new rows (dotted: the noise)")
plt.show()
