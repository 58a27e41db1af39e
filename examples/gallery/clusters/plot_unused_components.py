"""
A mixture that leaves components unused
=======================================

A Gaussian mixture uses all its components. With a prior of the weights, `BayesianGaussianMixture`
gives components that are not needed a weight near 0, so that their number is an upper limit. Both
are fitted here with ten components to rows of three heaps.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import thetahat as th

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], 150),
        rng.multivariate_normal([4, 0], [[0.6, -0.3], [-0.3, 0.6]], 150),
        rng.multivariate_normal([1, 4], [[1.5, 0.0], [0.0, 0.2]], 150),
    ]
)
settings = dict(n_components=10, max_iter=1000, random_state=0)
plain = th.GaussianMixture(**settings).fit(X)
bayes = th.BayesianGaussianMixture(weight_concentration_prior=1e-3, **settings).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for axis, model, title in zip(
    axes, (plain, bayes), ("GaussianMixture", "BayesianGaussianMixture"), strict=False
):
    used = np.flatnonzero(model.weights_ > 0.01)
    colors = {int(k): f"C{place}" for place, k in enumerate(used)}
    labels = model.predict(X)
    axis.scatter(*X.T, s=4, c=[colors.get(int(k), "0.5") for k in labels])
    for k in used:
        variances, directions = np.linalg.eigh(model.covariances_[k])
        angle = np.degrees(np.arctan2(*directions[::-1, 1]))
        width, height = 4 * np.sqrt(variances[::-1])
        axis.add_patch(Ellipse(model.means_[k], width, height, angle=angle, fill=False, lw=1.2))
    axis.set_title(f"{title}: {len(used)} of 10 used")
    print(f"{title} uses {len(used)} components.")

# The bars are the weights in decreasing order. The lower bound of the evidence rises in every
# iteration.
places = np.arange(10)
for shift, model, label in ((-0.2, plain, "GaussianMixture"), (0.2, bayes, "Bayesian")):
    axes[2].bar(places + shift, np.sort(model.weights_)[::-1], 0.4, label=label)
axes[2].set(xlabel="component", ylabel="weight", title="weights, largest first")
axes[2].legend(frameon=False)
inner = axes[2].inset_axes((0.45, 0.3, 0.52, 0.38))
inner.plot(1 + np.arange(bayes.n_iter_), bayes.lower_bounds_)
inner.set_xscale("log")
inner.set_title("lower bound by iteration", fontsize=8)
inner.tick_params(labelsize=7)
plt.show()
