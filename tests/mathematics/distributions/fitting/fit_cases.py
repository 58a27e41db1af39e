"""The families with parameters to fit, each with rows drawn from it."""

import pytest

from thetahat import distributions as d

FAMILIES = {
    "Bernoulli": (d.Bernoulli(0.3), {}),
    "BernoulliLogit": (d.BernoulliLogit(0.3), {}),
    "Categorical": (d.Categorical([0.2, 0.5, 0.3]), {}),
    "Poisson": (d.Poisson(2.5), {}),
    "Uniform": (d.Uniform(1, 4), {}),
    "Uniform from 0": (d.Uniform(0, 4), {"low": 0}),
    "Normal": (d.Normal(100, 2), {}),
    "Beta": (d.Beta(2, 5), {}),
    "Gamma": (d.Gamma(3, 0.02), {}),
    "Exponential": (d.Exponential(0.3), {}),
    "ChiSquared": (d.ChiSquared(4), {}),
    "StudentT": (d.StudentT(4, 50, 3), {}),
    "StudentT of known df": (d.StudentT(4, 50, 3), {"df": 4}),
    "F": (d.F(5, 12), {}),
    "TruncatedNormal": (d.TruncatedNormal(1, 2, 0, 4), {"low": 0, "high": 4}),
}


def families():
    return pytest.mark.parametrize(("law", "options"), FAMILIES.values(), ids=FAMILIES)
