"""
Support vector regression and its tube
======================================

Support vector regression ignores errors up to ε. Rows strictly inside the tube do not influence the
line: they may move inside it, or be removed. Rows outside pull with the same force however far away
they are, so the outliers at the top tilt the line less than they tilt least squares.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(2)
x = np.sort(random.uniform(0, 10, 60))
y = 0.8 * x + 1.0 + random.normal(0, 0.5, x.size)
y[-6:-2] += 9.0
X = x[:, np.newaxis]

tube = th.LinearSVR(epsilon=1.0, C=10.0, intercept_scaling=10.0).fit(X, y)
squares = th.LinearRegression().fit(X, y)
print(f"tube: slope {tube.coef_[0]:.2f}; least squares: slope {squares.coef_[0]:.2f}; truth: 0.80")

# %%
# Only the ringed rows determine the line; the model keeps their indices in ``support_``.

ends = np.array([[0.0], [10.0]])
middle = tube.predict(ends)
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.fill_between(ends[:, 0], middle - 1, middle + 1, color="tab:blue", alpha=0.15, label="±ε")
axes.plot(ends, middle, color="tab:blue", label="LinearSVR")
axes.plot(ends, squares.predict(ends), "k--", lw=1, label="least squares")
axes.scatter(x, y, s=14, color="black", zorder=2)
axes.scatter(x[tube.support_], y[tube.support_], s=70, facecolors="none", edgecolors="tab:red")
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False, loc="upper left")
plt.show()
