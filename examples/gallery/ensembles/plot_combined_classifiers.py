"""
Voting, stacking and model averaging for classifiers
====================================================

Three classifiers are fitted to the same two classes: a linear one, a cubic one and bagged trees.
They can vote with equal weights. A final classifier can learn how much to trust each of them
(stacking). Or each of them can be weighted by its probability given the data (Bayesian model
averaging), here estimated from its predictions of held-out labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import thetahat as th

random = np.random.default_rng(0)
angle = random.uniform(0, np.pi, 200)
upper = np.arange(200) < 100
X = np.column_stack(
    [np.where(upper, np.cos(angle), 1 - np.cos(angle)), np.where(upper, 1, -1) * np.sin(angle)]
)
X[~upper, 1] += 0.5
X += 0.25 * random.standard_normal(X.shape)
labels = np.where(upper, "upper", "lower")

members = [
    ("line", th.LogisticRegression()),
    ("cubic", make_pipeline(th.MonomialExpansion(3, include_bias=False), th.LogisticRegression())),
    ("bag", th.BaggingClassifier(n_estimators=30, random_state=0)),
]
together = {
    "equal votes": th.VotingClassifier(members, voting="soft"),
    "stacking": th.StackingClassifier(members),
    "model averaging": th.BayesianModelAveragingClassifier(members),
}

# %%
# Probability of the upper class: the members above, their combinations below. Model averaging
# assumes that one of the models is true: here the cubic one is so much more likely that it has all
# the weight.

horizontal, vertical = np.meshgrid(np.linspace(-1.8, 2.8, 60), np.linspace(-1.4, 1.9, 50))
points = np.column_stack([horizontal.ravel(), vertical.ravel()])
figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained", sharex=True, sharey=True)
for place, (name, model) in zip(axes.ravel(), [*members, *together.items()], strict=True):
    shares = model.fit(X, labels).predict_proba(points)[:, 1].reshape(horizontal.shape)
    place.contourf(horizontal, vertical, shares, levels=np.linspace(0, 1, 11), cmap="coolwarm")
    place.contour(horizontal, vertical, shares, levels=[0.5], colors="black", linewidths=1)
    place.scatter(*X.T, c=np.where(upper, "darkred", "navy"), s=4)
    place.set(title=name, ylim=(-1.4, 1.9))
average = together["model averaging"]
axes[1, 2].set(
    title="model averaging: " + ", ".join(f"{p:.2f}" for p in average.posterior_.round(2))
)
plt.show()
