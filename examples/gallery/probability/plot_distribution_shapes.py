"""
The shapes of distributions
===========================

Every distribution is a value with a density, quantiles, moments and samples. The panels show how
the parameters change the shape: counts on the left, shares and waiting times in the middle, and
the distributions of test statistics on the right.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

counts = np.arange(16)
share = np.linspace(0.002, 0.998, 400)
positive = np.linspace(0.01, 8, 400)
number = np.linspace(-4.5, 4.5, 400)

panels = {
    "counts": (
        counts,
        [
            th.distributions.Poisson(2),
            th.distributions.Poisson(7),
            th.distributions.NegativeBinomial(3, 0.3),
        ],
    ),
    "shares": (
        share,
        [
            th.distributions.Beta(0.5, 0.5),
            th.distributions.Beta(2, 2),
            th.distributions.Beta(8, 3),
            th.distributions.Uniform(0, 1),
        ],
    ),
    "test statistics": (
        positive,
        [
            th.distributions.ChiSquared(1),
            th.distributions.ChiSquared(2),
            th.distributions.ChiSquared(4),
            th.distributions.F(5, 10),
        ],
    ),
    "one of several values": (
        np.arange(4),
        [
            th.distributions.Bernoulli(0.7),
            th.distributions.BernoulliLogit(-1.5),
            th.distributions.Categorical([0.1, 0.2, 0.3, 0.4]),
        ],
    ),
    "waiting times": (
        positive,
        [
            th.distributions.Exponential(1),
            th.distributions.Gamma(2, 1),
            th.distributions.Gamma(9, 2),
        ],
    ),
    "light and heavy tails": (
        number,
        [
            th.distributions.Normal(0, 1),
            th.distributions.StudentT(1),
            th.distributions.StudentT(5),
            th.distributions.TruncatedNormal(0, 1, low=-1, high=2),
        ],
    ),
}

# %%
# Student's t distribution approaches the normal one as its degrees of freedom grow; a truncated
# normal distribution has all its mass between its ends.

figure, axes = plt.subplots(2, 3, figsize=(12, 6.4), layout="constrained")
for axis, (title, (x, laws)) in zip(axes.flat, panels.items(), strict=True):
    for place, law in enumerate(laws):
        label = f"{type(law).__name__}({', '.join(f'{v}' for v in law.get_params().values())})"
        label = label.replace("((", "(").replace("))", ")").replace(".0", "")
        if law.discrete:
            width = 0.8 / len(laws)
            axis.bar(x + (place - 1) * width, law.density(x), width, label=label, alpha=0.8)
        else:
            axis.plot(x, law.density(x), label=label)
    axis.set(title=title, ylim=(0, 1.45 if title == "test statistics" else None))
    axis.legend(fontsize=7.5)
axes[0, 0].set_xticks(range(0, 16, 3))
axes[1, 0].set_xticks(range(4))
axes[0, 1].set_ylim(0, 3.6)
axes[1, 2].set_ylim(0, 0.78)
plt.show()

# %%
# Shares that sum to 1 have a Dirichlet distribution; every single one has a Beta distribution.

rows = th.distributions.Dirichlet([2, 4, 8]).sample(3, random_state=0)
print(rows.round(3))
print(th.distributions.Dirichlet([2, 4, 8]).marginal(0))
