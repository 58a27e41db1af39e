"""
Comparing models with intervals and tests
=========================================

All models are fitted on the same folds, so that differences are computed fold by fold. The printed
sentences state which differences are significant, and about how many more rows the others would
need.
"""

import matplotlib.pyplot as plt

import thetahat as th

data = th.datasets.load_abalone()
X = data.X[:600, -7:]
models = {
    "plain": th.LinearRegression(),
    "ridge, α = 0.1": th.Ridge(alpha=0.1),
    "ridge, α = 10": th.Ridge(alpha=10.0),
    "Huber loss": th.LinearModel(loss="huber", penalty="none"),
}
comparison = th.compare(models, X, data.y[:600])
print(comparison)

# %%
# The mean score of each model with its interval; the ticks are the folds.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
comparison.plot(axes)
plt.show()

# %%
# One model alone: the interval of its score, and its predictions of held-out rows.

evaluation = th.evaluate(
    models["plain"], X, data.y[:600], scoring=["r2", "neg_mean_absolute_error"]
)
print(evaluation)
