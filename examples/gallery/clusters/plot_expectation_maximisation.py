"""
Expectation-maximisation of a Gaussian mixture
==============================================

Every iteration assigns the rows to the components by their probabilities, and moves each component
to the mean and covariance of its rows. The log-likelihood rises with every iteration, until a local
maximum is reached. Ellipses contain 90% of the probability of a component.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

rng = np.random.default_rng(4)
X = np.vstack(
    [
        rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], 200),
        rng.multivariate_normal([3, 0], [[0.3, 0.0], [0.0, 1.5]], 150),
        rng.multivariate_normal([0.5, 3.5], [[1.5, -0.4], [-0.4, 0.3]], 100),
    ]
)
start = dict(
    weights_init=np.full(3, 1 / 3),
    means_init=[[-1, 2], [0, 2], [1, 2]],
    precisions_init=np.tile(np.eye(2), (3, 1, 1)),
)


def draw(ax, model):
    ax.scatter(*X.T, c=model.predict_proba(X), s=5)
    for mean, covariance, color in zip(model.means_, model.covariances_, "rgb", strict=True):
        values, axes = np.linalg.eigh(covariance)
        width, height = 2 * np.sqrt(values * -2 * np.log(0.1))
        angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
        ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, ec=color, lw=1.5))
    ax.set(xlim=(-4, 6), ylim=(-5, 6), xticks=[], yticks=[])


figure, axes = plt.subplots(2, 3, figsize=(10, 6.5), layout="constrained")
for ax, steps in zip(axes.flat, [0, 1, 5, 20, 100], strict=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = th.GaussianMixture(3, max_iter=steps, tol=1e-9, **start).fit(X)
    draw(ax, model)
    ax.set_title(f"{model.n_iter_} iteration{'s' * (model.n_iter_ != 1)}")
ax = axes[1, 2]
ax.plot(np.arange(1, model.n_iter_ + 1), model.lower_bounds_)
ax.set(xlabel="iteration", ylabel="mean log-likelihood", title="it never decreases", xscale="log")
plt.show()
