"""
Learning a stream batch by batch
================================

Rows arrive in batches and are not stored. `SGDRegressor` takes one step per row; after a few
thousand rows its coefficients are close to those of least squares on all rows. When the true
coefficients drift, a model that continues to learn follows them, and a model that was fitted once
does not.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)


def batch(number):
    """Fifty rows; the second slope drifts from the 75th batch on."""
    truth = np.array([2.0, -1.0 + 2.0 * max(0, number - 75) / 75])
    X = random.standard_normal((50, 2))
    return X, X @ truth + 0.5 * random.standard_normal(50), truth


stream = [batch(number) for number in range(150)]
learner = th.SGDRegressor(learning_rate="constant", eta0=0.005, random_state=0)
first = [np.concatenate(part) for part in zip(*(rows[:2] for rows in stream[:50]), strict=True)]
once = th.LinearRegression().fit(*first)
slopes, errors = [], {"updated on every batch": [], "fitted once": []}
for number, (X, y, _) in enumerate(stream):
    if number >= 50:
        errors["updated on every batch"].append(np.mean((learner.predict(X) - y) ** 2))
        errors["fitted once"].append(np.mean((once.predict(X) - y) ** 2))
    learner.partial_fit(X, y)
    slopes.append(learner.coef_.copy())

# %%
# Dashed: the true coefficients. The second one begins to drift half-way.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(slopes)
left.plot([truth for _, _, truth in stream], "--", color="black", lw=0.8)
left.set(xlabel="batch", ylabel="coefficients")
for name, values in errors.items():
    right.plot(np.arange(50, 150), values, label=name)
right.set(xlabel="batch", ylabel="mean square on the next batch")
right.legend(frameon=False)
plt.show()
