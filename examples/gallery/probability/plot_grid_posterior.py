"""
Posteriors on a grid
====================

A grid of parameter values turns Bayes' rule into a sum. On the left, the posterior of the
probability of heads becomes narrower with each batch of coin flips. On the right, mean and standard
deviation of eight measurements have a joint posterior: the mean is less certain where the standard
deviation is large.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import xlog1py, xlogy
from scipy.stats import norm

import thetahat as th

random = np.random.default_rng(3)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
posterior = th.theory.GridPosterior(np.linspace(0, 1, 1001))
posterior.plot(left, label="prior")
total = 0
for batch in (5, 20, 75):
    heads = random.binomial(batch, 0.7)
    posterior = posterior.update(
        lambda theta, k=heads, n=batch: xlogy(k, theta) + xlog1py(n - k, -theta)
    )
    total += batch
    posterior.plot(left, label=f"after {total} flips")
low, high = posterior.interval(0.95)
left.axvspan(low, high, color="0.5", alpha=0.15, lw=0, label="95% interval")
left.axvline(0.7, color="black", lw=0.8, ls="--", label="true value")
left.set(xlabel="probability of heads")
left.legend(frameon=False)

data = random.normal(10.0, 2.0, size=8)
grid = {"mean": np.linspace(6, 14, 161), "deviation": np.geomspace(0.7, 6, 160)}
both = th.theory.GridPosterior(grid, lambda mean, deviation: 1 / deviation + 0 * mean)
both = both.update(lambda mean, deviation: sum(norm.logpdf(x, mean, deviation) for x in data))
both.plot(right)
drawn = both.sample(150, random_state=0)
right.plot(drawn["mean"], drawn["deviation"], ".", color="white", ms=3, alpha=0.7)
right.plot(*both.mode().values(), "r+", ms=12)
right.set(title="joint posterior, its mode, and draws from it")
plt.show()

# %%
# Has the sun exploded? A detector that errs with probability 1e-4 says yes. Maximum likelihood
# believes it at once. The posterior depends on the prior: yes is more probable only if the prior
# exceeds the error of the detector. For an alarm in a factory, the same rule is a small table.

says_yes = np.log([1e-4, 1 - 1e-4])
print("maximum likelihood:", th.theory.likelihood_decision(says_yes, classes=["no", "yes"]))
priors = np.geomspace(1e-9, 0.5, 200)
found = [th.theory.class_posterior(says_yes, [1 - prior, prior])[1] for prior in priors]
odds = [float(th.theory.log_odds(says_yes, [1 - prior, prior])) for prior in priors]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(priors, found)
left.axhline(0.5, color="0.6", lw=0.8, label="even odds")
left.axvline(1e-4, color="0.6", lw=0.8, ls="--", label="error of the detector")
left.set(xlabel="prior of an explosion", ylabel="posterior after the detector says yes")
left.legend(frameon=False, loc="lower right")
right.semilogx(priors, odds)
right.axhline(0.0, color="0.6", lw=0.8)
right.axvline(1e-4, color="0.6", lw=0.8, ls="--")
right.set(xlabel="prior of an explosion", ylabel="log-odds")
plt.show()

alarm = th.theory.BayesTable.of("state", {"fault": 0.03, "fine": 0.97}).chain(
    "alarm",
    {"fault": {"on": 0.6, "off": 0.4}, "fine": {"on": 0.1, "off": 0.9}},
    given="state",
)
print(alarm)
print(alarm.given({"alarm": "on"}))
