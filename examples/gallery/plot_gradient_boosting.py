"""
Gradient boosting: errors by round, and bands of quantiles
==========================================================

Each round adds a small tree fitted to the slope of the loss. The training error falls for ever; the
test error tells when to stop. With the quantile loss the same machine draws prediction bands, and
with another learner than trees it draws other curves.
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
# The histogram face of the same engine stops by itself on held-out rows.
model = th.HistGradientBoostingClassifier(
    early_stopping=True, max_iter=300, min_samples_leaf=5, random_state=0
).fit(X, y)
print(f"{model.n_iter_} rounds, test accuracy {model.score(X_test, y_test):.3f}")

# %%
# Bands of quantiles
# ------------------
# Noise grows with x; three quantile fits follow it, while the squared loss gives the mean alone.
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
# Any regressor may be fitted to the slopes. A stiff spline is too weak alone; boosted, it bends a
# little more in every round and stays smooth. The absolute loss keeps both curves away from the
# wild values.
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
