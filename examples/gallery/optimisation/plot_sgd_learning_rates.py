"""
Learning rates of stochastic gradient descent
=============================================

Stochastic gradient descent takes one row at a time, θ ← θ − η_t ∇ℓ_i, and the learning rate η_t
decides whether it converges. With a constant rate it approaches the optimum quickly and then
fluctuates around it; with a decreasing rate the fluctuations vanish. The adaptive rate, divided by
five whenever an epoch brings no improvement, does both. The mean of all iterates fluctuates little
even where the iterates do.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

random = np.random.default_rng(0)
X = random.standard_normal((2000, 10))
labels = (X @ random.standard_normal(10) + random.standard_normal(2000) > 0).astype(float)
alpha = 0.01

loss, penalty = th.losses.Logistic(), th.penalties.L2(alpha)
best = th.LinearModel(loss, penalty).fit(X, labels)


def objective(coef, intercept):
    """Mean loss + penalty."""
    return loss.value(labels, X @ coef + intercept).mean() + penalty.value(coef)


# %%
# A fit of n epochs equals the first n epochs of a longer one, because the seed fixes the order of
# the rows. Only "adaptive" measures the improvement of its epochs, by `tol`.

schedules = {
    "constant": {"learning_rate": "constant", "eta0": 0.1},
    "constant, averaged": {"learning_rate": "constant", "eta0": 0.1, "average": True},
    "invscaling, 1/√t": {"learning_rate": "invscaling", "eta0": 1.0, "power_t": 0.5},
    "optimal, 1/(αt)": {"learning_rate": "optimal"},
    "adaptive": {"learning_rate": "adaptive", "eta0": 0.1, "tol": 1e-4, "n_iter_no_change": 2},
}
lowest = objective(best.coef_, best.intercept_)
epochs = range(1, 31)

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
warnings.simplefilter("ignore", ConvergenceWarning)  # fits of few epochs are the point here
for name, options in schedules.items():
    options = {"loss": "log_loss", "alpha": alpha, "random_state": 0, "tol": None} | options
    models = [th.SGDClassifier(max_iter=n, **options).fit(X, labels) for n in epochs]
    excess = [objective(model.coef_[0], model.intercept_[0]) - lowest for model in models]
    axes.semilogy(epochs, excess, label=name)
axes.set(xlabel="epoch", ylabel="objective above its minimum")
axes.legend(frameon=False)
plt.show()
