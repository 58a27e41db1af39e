"""Distributions as values: th.distributions.Normal(0, 1), with fits, posteriors and divergences."""

from thetahat.mathematics.distributions.bernoulli import Bernoulli, BernoulliLogit
from thetahat.mathematics.distributions.beta import Beta
from thetahat.mathematics.distributions.categorical import Categorical
from thetahat.mathematics.distributions.conjugate import posterior, predictive
from thetahat.mathematics.distributions.dirichlet import Dirichlet
from thetahat.mathematics.distributions.divergence import cross_entropy, jensen_gap, kl
from thetahat.mathematics.distributions.f import F
from thetahat.mathematics.distributions.factorials import beta_function, gamma_function
from thetahat.mathematics.distributions.fitting.maximum_likelihood import (
    SimulatedEstimates,
    maximum_likelihood,
    simulate_estimates,
)
from thetahat.mathematics.distributions.fitting.result import DistributionFit, MapFit
from thetahat.mathematics.distributions.gamma import ChiSquared, Exponential, Gamma
from thetahat.mathematics.distributions.normal import Normal
from thetahat.mathematics.distributions.poisson import NegativeBinomial, Poisson
from thetahat.mathematics.distributions.student import StudentT
from thetahat.mathematics.distributions.truncated_normal import TruncatedNormal
from thetahat.mathematics.distributions.uniform import Uniform

__all__ = [
    "Bernoulli",
    "BernoulliLogit",
    "Beta",
    "Categorical",
    "ChiSquared",
    "Dirichlet",
    "DistributionFit",
    "Exponential",
    "F",
    "Gamma",
    "MapFit",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "SimulatedEstimates",
    "StudentT",
    "TruncatedNormal",
    "Uniform",
    "beta_function",
    "cross_entropy",
    "gamma_function",
    "jensen_gap",
    "kl",
    "maximum_likelihood",
    "posterior",
    "predictive",
    "simulate_estimates",
]


def __dir__() -> list[str]:
    return sorted(__all__)
