"""
Which model is better, and how surely
=====================================

All models see the same folds, so that differences are taken fold by fold. The sentences say which
differences are real, and how many more rows the others would take.
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
# Each model's mean score with its interval; the ticks are the folds.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
comparison.plot(axes)
plt.show()

# %%
# One model alone, with the interval of its score and its predictions of rows it had not seen.

evaluation = th.evaluate(
    models["plain"], X, data.y[:600], scoring=["r2", "neg_mean_absolute_error"]
)
print(evaluation)
