"""
A posterior after every toss of a coin
======================================

A Beta prior of the probability of heads becomes, after each toss, the Beta posterior, which is the
prior of the next toss. The most probable value with the prior Beta(2, 2) is (N₁ + 1)/(N + 2):
add-one smoothing, which gives ½ before the first toss. The right panel updates a normal prior of a
commuting time by four trips whose noise is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

prior = th.distributions.Beta(2, 2)
tosses = [1, 1, 1, 1, 0, *th.distributions.Bernoulli(0.7).sample(95, random_state=1)]
p = np.linspace(0, 1, 400)

before = th.distributions.Normal(30, 10)
after = th.distributions.posterior(before, [25, 45, 30, 50], noise=5)
next_trip = th.distributions.predictive(after, noise=5)
minutes = np.linspace(0, 65, 400)

# %%
# The prior N(30, 10²) and four trips of 25, 45, 30 and 50 minutes with a noise of 5 minutes give
# the posterior N(37.06, 2.43²). The next trip is less certain than its mean: the predictive
# distribution adds the noise.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for seen, colour in zip((0, 1, 5, 20, 100), plt.cm.viridis(np.linspace(0, 0.9, 5)), strict=True):
    fit = th.distributions.Bernoulli.map_fit(tosses[:seen], prior)
    low, high = fit.posterior.interval(0.95)
    label = f"{seen} {'toss' if seen == 1 else 'tosses'}: p in [{low:.2f}, {high:.2f}]"
    left.plot(p, fit.posterior.density(p), color=colour, label=label)
    best = fit.distribution.p
    left.plot(best, fit.posterior.density(best), "o", color=colour, ms=5)
left.set(xlabel="probability of heads", ylabel="density", title="Beta posterior of a coin")
left.legend(fontsize=8)
for law, label in ((before, "prior"), (after, "posterior"), (next_trip, "next trip")):
    right.plot(minutes, law.density(minutes), label=f"{label}: N({law.mean:.1f}, {law.sigma:.2f}²)")
right.plot([25, 45, 30, 50], [0] * 4, "|", color="black", ms=14, label="trips")
right.set(xlabel="commuting time in minutes", title="Normal posterior of a mean")
right.legend(fontsize=8)
plt.show()
