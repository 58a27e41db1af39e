"""
An ellipse that outliers cannot move
====================================

A few rows far away change the mean and the covariance of maximum likelihood. The minimum covariance
determinant uses only the rows that lie closest together, so that outliers have no influence, and
their distances from the robust ellipse reveal them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import chi2

import thetahat as th

normal = th.distributions.MultivariateNormal([0.0, 0.0], [[2.0, 1.2], [1.2, 1.0]])
outliers = th.distributions.MultivariateNormal([5.0, -2.5], 0.3 * np.eye(2))
X = np.concatenate([normal.sample(160, random_state=0), outliers.sample(40, random_state=1)])

models = {
    "maximum likelihood": (th.EmpiricalCovariance().fit(X), "tab:orange"),
    "minimum covariance determinant": (th.MinCovDet(random_state=0).fit(X), "tab:blue"),
}
x, y = np.meshgrid(np.linspace(-7, 9, 300), np.linspace(-5, 4.5, 250))
grid = np.column_stack([x.ravel(), y.ravel()])

figure, axes = plt.subplots(figsize=(7, 4.8), layout="constrained")
axes.plot(*X.T, ".", color="0.4", markersize=4)
for name, (model, color) in models.items():
    distance = model.mahalanobis(grid).reshape(x.shape)
    axes.contour(x, y, distance, levels=[chi2(2).ppf(0.975)], colors=color)
    axes.plot(*model.location_, "+", color=color, markersize=14, markeredgewidth=2, label=name)
axes.set(xlabel="x1", ylabel="x2", title="Ellipses that should contain 97.5% of the rows")
axes.legend(fontsize=9, loc="lower left")
plt.show()

# %%
# `EllipticEnvelope` turns the robust distance into labels. By maximum likelihood the outliers are
# no farther from the centre than many other rows; by the robust distance they are far from all of
# them.

envelope = th.EllipticEnvelope(contamination=0.2, random_state=0).fit(X)
inside = envelope.predict(X) == 1
plain, robust = (np.sqrt(model.mahalanobis(X)) for model, _ in models.values())

figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
axes.plot(plain[inside], robust[inside], ".", label="inside the envelope")
axes.plot(plain[~inside], robust[~inside], "x", color="tab:red", label="outliers")
axes.set(xlabel="distance, maximum likelihood", ylabel="robust distance")
axes.legend(fontsize=9)
plt.show()
