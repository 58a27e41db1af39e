"""
Gradient boosting: errors by iteration and quantile bands
=========================================================

Each iteration adds a small tree that is fitted to the gradient of the loss. The training error
keeps falling; the test error shows when to stop. With the quantile loss the same method gives
prediction bands, and any regressor can take the place of the trees.
"""

# %%
# Staged errors of stumps and of deeper trees
# -------------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import thetahat as th

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
figure, axis = plt.subplots(figsize=(7, 4))
for depth, colour in ((1, "tab:blue"), (4, "tab:orange")):
    model = th.GradientBoostingClassifier(max_depth=depth, n_estimators=150).fit(X, y)
    train = [np.mean(stage != y) for stage in model.staged_predict(X)]
    test = [np.mean(stage != y_test) for stage in model.staged_predict(X_test)]
    name = "stumps" if depth == 1 else f"trees of depth {depth}"
    axis.plot(train, "--", color=colour, label=f"{name}, training")
    axis.plot(test, color=colour, label=f"{name}, test")
axis.set(xlabel="round", ylabel="share of errors", title="Errors by round")
axis.legend()
plt.show()

# %%
# The histogram-based classifier stops early, by its score on held-out rows.
model = th.HistGradientBoostingClassifier(
    early_stopping=True, max_iter=300, min_samples_leaf=5, random_state=0
).fit(X, y)
print(f"{model.n_iter_} rounds, test accuracy {model.score(X_test, y_test):.3f}")

# %%
# Bands of quantiles
# ------------------
# The noise grows with x. Three quantile fits follow it, while the squared loss gives only the mean.
random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 10, 1500))
target = np.sin(x) * x / 3 + random.standard_normal(1500) * (0.2 + x / 8)
rows, grid = x[:, None], np.linspace(0, 10, 400)[:, None]
options = {"max_leaf_nodes": 8, "min_samples_leaf": 30}
low, middle, high = (
    th.HistGradientBoostingRegressor(loss="quantile", quantile=level, **options)
    .fit(rows, target)
    .predict(grid)
    for level in (0.05, 0.5, 0.95)
)
mean = th.GradientBoostingRegressor(max_depth=3).fit(rows, target).predict(grid)
figure, axis = plt.subplots(figsize=(7, 4))
axis.plot(x, target, ".", color="lightgrey", markersize=3)
axis.fill_between(grid[:, 0], low, high, alpha=0.3, label="5% to 95%")
axis.plot(grid, middle, label="median")
axis.plot(grid, mean, "--", label="mean (squared loss)")
axis.set(xlabel="x", ylabel="y", title="Quantile bands by boosting")
axis.legend()
plt.show()

# %%
# Other learners than trees
# -------------------------
# Any regressor can be fitted to the gradients. A stiff spline is too weak alone; boosted, it bends
# a little more in every iteration and stays smooth. With the absolute loss, neither curve follows
# the outliers.
x = np.sort(random.uniform(0, 10, 300))
target = np.sin(x) + random.standard_normal(300) * 0.2
target[::12] += 6.0
spline = make_pipeline(SplineTransformer(n_knots=15), th.Ridge(alpha=30.0))
figure, axis = plt.subplots(figsize=(7, 4))
axis.plot(x, target, ".", color="lightgrey")
for learner, name in (
    (th.DecisionTreeRegressor(max_depth=2), "boosted trees"),
    (spline, "boosted splines"),
):
    model = th.GradientBoostingRegressor(loss="absolute_error", estimator=learner, n_estimators=40)
    axis.plot(grid, model.fit(x[:, None], target).predict(grid), label=name)
alone = spline.fit(x[:, None], target)
axis.plot(grid, alone.predict(grid), "--", color="grey", label="one spline, squared loss")
axis.set(xlabel="x", ylabel="y", title="Absolute loss, two learners")
axis.legend()
plt.show()
