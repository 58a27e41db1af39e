"""
Huber regression and its outliers
=================================

The Huber loss is quadratic up to ε standard deviations and linear beyond, and the standard
deviation is estimated together with the coefficients. So the influence of each point is bounded,
and scaling y changes nothing. A small ε is close to median regression, a large ε is close to least
squares.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(3)
x = np.sort(random.uniform(0.0, 10.0, 60))
y = 1.5 * x + 2.0 + random.normal(0.0, 1.0, x.size)
wrong = random.choice(np.flatnonzero(x > 5.0), 9, replace=False)
y[wrong] += random.uniform(15.0, 30.0, wrong.size)
X = x[:, np.newaxis]

model = th.HuberRegressor(epsilon=2.0).fit(X, y)
print(f"slope {model.coef_[0]:.2f}, scale {model.scale_:.2f}, in {model.n_iter_} steps")
epsilons = np.geomspace(1.01, 30.0, 40)
slopes = [th.HuberRegressor(epsilon=epsilon).fit(X, y).coef_[0] for epsilon in epsilons]

# %%
# Left: the points that ε = 2 marks as outliers. Right: as ε grows, the slope changes from that of
# median regression to that of least squares.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
grid = np.array([[0.0], [10.0]])
left.scatter(x, y, s=14, color="black")
labelled = model.outliers_
left.scatter(x[labelled], y[labelled], s=60, facecolors="none", edgecolors="tab:red")
line = model.predict(grid)
left.fill_between(
    grid[:, 0], line - 2 * model.scale_, line + 2 * model.scale_, alpha=0.15, color="tab:orange"
)
left.plot(grid, line, color="tab:orange", label="Huber, ε = 2, with ± 2 scales")
least_squares = th.LinearRegression().fit(X, y)
left.plot(grid, least_squares.predict(grid), "--", color="tab:blue", label="least squares")
left.set(xlabel="x", ylabel="y")
left.legend(frameon=False)
right.semilogx(epsilons, slopes, color="tab:orange")
right.axhline(1.5, color="black", ls=":", label="true slope")
right.axhline(least_squares.coef_[0], color="tab:blue", ls="--", label="least squares")
right.set(xlabel="ε", ylabel="slope")
right.legend(frameon=False)
plt.show()
