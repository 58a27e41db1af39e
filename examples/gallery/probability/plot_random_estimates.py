"""
An estimate is a random variable
================================

Maximum likelihood gives another estimate for every sample. Its distribution narrows as the sample
grows, and need not be symmetric: the largest of n values always underestimates the end of a uniform
distribution, whose exact interval begins at the largest value.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

waiting = th.distributions.Exponential(2.0)
uniform = th.distributions.Uniform(0, 6)


def end_of(values):
    return th.distributions.Uniform.fit(values, low=0)


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for n in (10, 40, 160):
    found = th.distributions.simulate_estimates(waiting, n, random_state=0)
    left.hist(found.estimates[:, 0], bins=30, density=True, alpha=0.6, label=f"n = {n}")
for n in (3, 6, 12):
    found = th.distributions.simulate_estimates(uniform, n, fit=end_of, random_state=0)
    right.hist(found.estimates[:, 0], bins=30, density=True, alpha=0.6, label=f"n = {n}")
left.axvline(waiting.rate, color="black", lw=1)
left.set(xlabel="estimated rate", title="Exponential: the rate is 2", xlim=(0.5, 5))
right.axvline(uniform.high, color="black", lw=1)
right.set(xlabel="estimated upper end", title="Uniform on [0, θ]: θ is 6", xlim=(0, 6.3))
for axis in (left, right):
    axis.set_yticks([])
    axis.legend()
plt.show()

# %%
# One sample gives an estimate, its standard error and an interval.

sample = waiting.sample(40, random_state=1)
print(th.distributions.Exponential.fit(sample))

# %%
# Any other density can be fitted too: write its logarithm, and the derivatives are computed.


def weibull(x, theta):
    shape, scale = theta[0], theta[1]
    z = np.log(x / scale)
    return np.log(shape / x) + shape * z - np.exp(shape * z)


print(
    th.distributions.maximum_likelihood(
        weibull, sample, [1.0, 1.0], positive=True, names=["shape", "scale"]
    )
)
