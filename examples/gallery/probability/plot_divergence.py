"""
Maximum likelihood is the smallest divergence
=============================================

The mean log-likelihood of a model is minus its Kullback-Leibler divergence from the sample, plus a
constant. So the most likely model is the one closest to the sample. The divergence is not
symmetric: exchanging the two distributions gives another number.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

sample = th.distributions.Poisson(2).sample(200, random_state=0)
empirical = th.distributions.Categorical.fit(sample).distribution
rates = np.linspace(0.8, 4, 60)
divergence = [th.distributions.kl(empirical, th.distributions.Poisson(rate)) for rate in rates]
code_length = [
    th.distributions.cross_entropy(empirical, th.distributions.Poisson(rate)) for rate in rates
]
best = th.distributions.Poisson.fit(sample)
low, high = best.interval("rate")

p = np.linspace(0.01, 0.99, 99)
fair = th.distributions.Bernoulli(0.5)
coins = [th.distributions.Bernoulli(each) for each in p]

# %%
# The left panel shows models of counts by their rate. In the right panel, the divergence between
# two coins depends on which of them is the true one.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.plot(rates, code_length, label="cross-entropy: mean negative log-likelihood")
left.plot(rates, divergence, label="divergence from the sample")
left.axhline(empirical.entropy, color="grey", ls=":", label="entropy of the sample")
left.axvline(best.distribution.rate, color="black", lw=1, ymax=0.6, label="maximum likelihood")
left.axvspan(low, high, ymax=0.6, color="black", alpha=0.08, lw=0, label="95% interval")
left.set(xlabel="rate", ylabel="nats", title="Models of counts", ylim=(0, 4.2))
left.legend(fontsize=8, loc="upper right")
right.plot(p, [th.distributions.kl(fair, coin) for coin in coins], label="KL(fair‖coin)")
right.plot(p, [th.distributions.kl(coin, fair) for coin in coins], label="KL(coin‖fair)")
right.set(xlabel="probability of heads", title="Two coins", ylim=(0, 1.6))
right.legend()
plt.show()

# %%
# Jensen's inequality: for a convex function, E f(X) is at least f(E X).

gap = th.distributions.jensen_gap(np.exp, th.distributions.Normal(0, 1))
print(f"For exp of a standard normal variable, E f(X) − f(E X) is {gap:.4f}.")
