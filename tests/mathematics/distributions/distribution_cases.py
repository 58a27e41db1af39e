"""Distributions with several parameters, and the same ones of SciPy."""

import numpy as np
import pytest
from scipy import stats

from thetahat import distributions as d

TWINS = [
    (d.Bernoulli(0.3), stats.bernoulli(0.3)),
    (d.Bernoulli(1.0), stats.bernoulli(1.0)),
    (d.BernoulliLogit(-1.2), stats.bernoulli(1 / (1 + np.exp(1.2)))),
    (d.Categorical([0.2, 0.5, 0.3]), stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3]))),
    (d.Poisson(0.2), stats.poisson(0.2)),
    (d.Poisson(37.5), stats.poisson(37.5)),
    (d.NegativeBinomial(2.5, 0.3), stats.nbinom(2.5, 0.3)),
    (d.Uniform(-1, 3), stats.uniform(-1, 4)),
    (d.Normal(2, 3), stats.norm(2, 3)),
    (d.TruncatedNormal(0.5, 2, -1, 4), stats.truncnorm(-0.75, 1.75, 0.5, 2)),
    (d.TruncatedNormal(0, 1, 3, np.inf), stats.truncnorm(3, np.inf)),
    (d.Beta(2, 5), stats.beta(2, 5)),
    (d.Beta(0.5, 0.7), stats.beta(0.5, 0.7)),
    (d.Gamma(2.5, 4), stats.gamma(2.5, scale=0.25)),
    (d.Exponential(3), stats.expon(scale=1 / 3)),
    (d.ChiSquared(5), stats.chi2(5)),
    (d.StudentT(5, 1, 2), stats.t(5, 1, 2)),
    (d.StudentT(np.inf, 1, 2), stats.norm(1, 2)),
    (d.F(4, 11), stats.f(4, 11)),
]
"""Pairs of a distribution and its twin."""


def twins():
    return pytest.mark.parametrize(("own", "twin"), TWINS, ids=[str(own) for own, _ in TWINS])


def every():
    return pytest.mark.parametrize("own", [own for own, _ in TWINS], ids=str)


def values_of(own, n=200):
    """Values across the support, and some outside."""
    inside = own.quantile(np.linspace(0.001, 0.999, n))
    return np.concatenate([inside, [inside.min() - 10, inside.max() + 10, -0.5, 0.5]])
